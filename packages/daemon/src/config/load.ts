import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { fail } from "@thinkery/sdk";
import { defaultConfig } from "./defaults.ts";
import type { Config } from "./schema.ts";

export interface LoadedConfig {
  config: Config;
  /** The files that exist, in the order they were read; later ones override earlier ones. */
  files: string[];
}

/** Loads the data folder's `config.jsonc`, then the working folder's `thinkery.jsonc`. */
export async function loadConfig(homePath: string, cwd: string): Promise<LoadedConfig> {
  const merged: Record<string, unknown> = {};
  const files: string[] = [];
  const homeFile = join(homePath, "config.jsonc");
  for (const file of [homeFile, join(cwd, "thinkery.jsonc")]) {
    const text = await readIfExists(file);
    if (text === undefined) continue;
    // Imported lazily: a host without configuration files does not need the parser.
    const { parseConfig } = await import("./parse.ts");
    const values = parseConfig(file, text);
    const forbidden = file === homeFile ? undefined : Object.keys(homeOnlyKeys).find((key) => key in values);
    if (forbidden)
      throw fail(
        "bad_request",
        `${file} may not set “${forbidden}”: a file in the working folder ${homeOnlyKeys[forbidden]}. Move it to ${homeFile}.`,
      );
    Object.assign(merged, values);
    files.push(file);
  }
  if (files.length === 0) return { config: defaultConfig, files };
  const { configSchema } = await import("./schema.ts");
  return { config: configSchema.parse(merged), files };
}

/** Keys that only the data folder may set, and why: the working folder may be somebody else's repository. */
const homeOnlyKeys: Record<string, string> = {
  providers: "could send your keys to another server",
  toolOrigins: "could let tools call services on this machine",
  worker: "could make the host run any code",
  sandbox: "could raise the limits of code that agents run",
  linux: "could raise the limits of commands that agents run",
  workspace: "could delete the history of agents' files",
};

async function readIfExists(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw fail("bad_request", `Cannot read ${file} (${code}). Make it a readable file, or remove it.`);
  }
}
