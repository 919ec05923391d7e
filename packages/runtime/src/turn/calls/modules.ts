import { findPathIssue } from "@thinkery/sdk";
import { z } from "zod";
import { decodeText } from "../../workspace/content.ts";
import type { WorkspacePort } from "../../workspace/workspace-port.ts";

const pathsSchema = z.array(z.string().max(4096)).max(40);

/** A run may look so often; one that imports as much as it may does not come near. */
const maxSearches = 1000;
/** Longer files cannot be imported anyway. */
const maxModuleBytes = 1024 * 1024;

/**
 * What code imports of the workspace: asked with paths, it answers the first file that there is as `{path, text}`, or
 * null. JSON. What may not be read may not be imported: `refusal` says why.
 */
export function createModuleFinder(
  workspace: WorkspacePort,
  branch: string | undefined,
  refusal: (path: string) => string | undefined,
): (input: string) => Promise<string> {
  let searches = 0;
  return async (input) => {
    if (++searches > maxSearches) throw new Error(`A run of code may look for ${maxSearches} modules.`);
    const paths = pathsSchema.parse(JSON.parse(input));
    for (const path of paths) {
      const info = findPathIssue(path) ? undefined : await workspace.stat(path, { branch });
      if (!info) continue;
      const refused = refusal(info.path);
      if (refused !== undefined) throw new Error(refused);
      if (info.size > maxModuleBytes) throw new Error(`“${path}” is too large to be imported: ${info.size} bytes.`);
      const { content = "" } = (await workspace.read(path, { branch })) ?? {};
      const text = typeof content === "string" ? content : decodeText(await workspace.readBytes(content, path));
      if (text === undefined) throw new Error(`“${path}” cannot be imported: it is not text.`);
      return JSON.stringify({ path: info.path, text });
    }
    return "null";
  };
}
