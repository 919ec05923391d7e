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

/** Loads the data folder's `config.jsonc`, then the working folder's `thinkery.jsonc`, which may set less. */
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
    if (file !== homeFile) checkWorkingFolderKeys(file, values, merged, homeFile);
    Object.assign(merged, values);
    files.push(file);
  }
  if (files.length === 0) return { config: defaultConfig, files };
  const { configSchema } = await import("./schema.ts");
  return { config: configSchema.parse(merged), files };
}

/** The working folder may be somebody else's repository, so its file may only choose models and use fewer slots. */
function checkWorkingFolderKeys(
  file: string,
  values: Record<string, unknown>,
  home: Record<string, unknown>,
  homeFile: string,
): void {
  const forbidden = Object.keys(values).find((key) => !workingFolderKeys.has(key));
  if (forbidden)
    throw fail(
      "bad_request",
      `${file} may not set “${forbidden}”: a file in the working folder ${reasons[forbidden] ?? defaultReason}. Move it to ${homeFile}.`,
    );
  const maxSlots = (home.sandboxSlots as number | undefined) ?? defaultConfig.sandboxSlots;
  if (((values.sandboxSlots as number | undefined) ?? 0) > maxSlots)
    throw fail(
      "bad_request",
      `${file} may not set “sandboxSlots” to more than ${maxSlots}: a file in the working folder could use up the machine. Move it to ${homeFile}.`,
    );
}

const workingFolderKeys: ReadonlySet<string> = new Set(["$schema", "model", "models", "sandboxSlots"]);

const defaultReason = "could raise the host's limits";
/** What a file in the working folder could do with a key that it may not set. */
const reasons: Readonly<Record<string, string>> = {
  port: "could choose where the host listens",
  host: "could choose where the host listens",
  allowedHosts: "could open the host to other web pages",
  allowedOrigins: "could open the host to other web pages",
  providers: "could send your keys to another server",
  toolOrigins: "could let tools call services on this machine",
  worker: "could make the host run any code",
  policy: "could allow calls that your rules leave closed",
  reasoning: "could make every model call expensive",
  agentSlots: "could use up the machine",
  prices: "could make budgets count too little",
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
