import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import { defaultConfig } from "./defaults.ts";
import type { Config } from "./schema.ts";

export interface LoadedConfig {
  config: Config;
  /** The files that were there, in the order they were read; later ones win. */
  files: string[];
}

/** The data folder's `config.jsonc`, then the working folder's `thinkery.jsonc`. */
export async function loadConfig(homePath: string, cwd: string): Promise<LoadedConfig> {
  const merged: Record<string, unknown> = {};
  const files: string[] = [];
  const ours = join(homePath, "config.jsonc");
  for (const file of [ours, join(cwd, "thinkery.jsonc")]) {
    const text = await readIfExists(file);
    if (text === undefined) continue;
    // Only here: a host without a configuration need not load what checks one.
    const { parseConfig } = await import("./parse.ts");
    const own = parseConfig(file, text);
    const foreign = file === ours ? undefined : Object.keys(homeOnlyKeys).find((key) => key in own);
    if (foreign)
      throw fail(
        "bad_request",
        `${file} may not set “${foreign}”: the file of a working folder ${homeOnlyKeys[foreign]}. Put it into ${ours}.`,
      );
    Object.assign(merged, own);
    files.push(file);
  }
  if (files.length === 0) return { config: defaultConfig, files };
  const { configSchema } = await import("./schema.ts");
  return { config: configSchema.parse(merged), files };
}

/** A working folder may be anybody's repository, and this is what it could do to us. */
const homeOnlyKeys: Record<string, string> = {
  providers: "could send your keys to another address",
  toolOrigins: "could have tools call what runs on this machine",
  worker: "could have the host run any code",
  sandbox: "could loosen the limits of code that agents write",
  linux: "could loosen the limits of commands that agents run",
  workspace: "could drop the history of agents' files",
};

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw fail("bad_request", `${file} cannot be read (${code}); make it a readable file or remove it.`);
  }
}
