import { findPathIssue } from "@thinkery/sdk";
import { z } from "zod";
import { decodeText } from "../../workspace/content.ts";
import type { WorkspacePort } from "../../workspace/workspace-port.ts";

const pathsSchema = z.array(z.string().max(4096)).max(40);

/** Lookups per run. Even a run that imports the maximum number of modules does not come near. */
const maxLookups = 1000;
/** Larger files could not be imported anyway. */
const maxModuleBytes = 1024 * 1024;

/**
 * Finds modules that code imports from the workspace. Takes candidate paths as JSON and returns the first existing file
 * as `{path, text}`, or null. A file that may not be read cannot be imported: `explainDenial` says why.
 */
export function createModuleFinder(
  workspace: WorkspacePort,
  branch: string | undefined,
  explainDenial: (path: string) => string | undefined,
): (input: string) => Promise<string> {
  let lookups = 0;
  return async (input) => {
    if (++lookups > maxLookups) throw new Error(`Code may look up at most ${maxLookups} modules per run.`);
    const paths = pathsSchema.parse(JSON.parse(input));
    for (const path of paths) {
      const info = findPathIssue(path) ? undefined : await workspace.stat(path, { branch });
      if (!info) continue;
      const denial = explainDenial(info.path);
      if (denial !== undefined) throw new Error(denial);
      if (info.size > maxModuleBytes)
        throw new Error(`“${path}” is too large to import: it has ${info.size} bytes, the limit is ${maxModuleBytes}.`);
      const { content = "" } = (await workspace.read(path, { branch })) ?? {};
      const text = typeof content === "string" ? content : decodeText(await workspace.readBytes(content, path));
      if (text === undefined) throw new Error(`“${path}” cannot be imported: it is not a text file.`);
      return JSON.stringify({ path: info.path, text });
    }
    return "null";
  };
}
