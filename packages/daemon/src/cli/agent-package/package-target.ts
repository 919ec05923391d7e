import { readFile, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type AgentTarget, fail } from "@thinkery/sdk";
import { type AgencyFlags, getAgency } from "../agency-option.ts";
import type { Cli } from "../cli.ts";
import { parseAgentTarget } from "../target.ts";
import { checkPackageName } from "./package-name.ts";

export const packageFile = "package.json";

export const packageTargetHelp = "folder of the package, or its name, as hello or hello@review";

/** Finds a package that was deployed: by its folder, or by its name. Its agent has the same name. */
export async function resolvePackageTarget(cli: Cli, text: string, flags: AgencyFlags): Promise<AgentTarget> {
  const agency = getAgency(cli, flags);
  const found = await readPackageFile(resolve(cli.cwd, text));
  const isPath = /^[./~]|[/\\]$/.test(text);
  // A folder that only happens to have the name of an agent is not meant.
  if (found && (isPath || found.thinkery !== undefined))
    return { kind: "agent", agent: checkPackageName(String(found.name ?? "")), agency };
  if (isPath) throw createMissingPackageError(text);
  return parseAgentTarget(cli, text.includes("@") ? text : `${text}@${agency}`);
}

/** Throws if a folder is no package, whatever errors its package.json may have. */
export async function checkPackageFolder(cwd: string, dir: string): Promise<void> {
  await stat(resolve(cwd, dir, packageFile)).catch(() => {
    throw createMissingPackageError(dir);
  });
}

export function createMissingPackageError(dir: string): Error {
  return fail(
    "bad_request",
    `“${dir}” has no package.json. Pass the folder of an agent, or create one with \`thinkery agent init <dir>\`.`,
  );
}

async function readPackageFile(folder: string): Promise<{ name?: unknown; thinkery?: unknown } | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, packageFile), "utf8")) as object;
  } catch (error) {
    if (error instanceof SyntaxError) throw fail("bad_request", `${join(folder, packageFile)} is not valid JSON.`);
    return undefined;
  }
}
