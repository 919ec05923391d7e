import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDotenv } from "./dotenv.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

interface LoadedEnvironment {
  env: Environment;
  /** Variables set in `.env` that were ignored. */
  ignored: string[];
}

// A cloned repository must not choose which host is trusted or which token is used.
const ignoredVariables = ["THINKERY_HOME", "THINKERY_URL", "THINKERY_TOKEN"];

/** Merges the working folder's `.env` with the real environment, which takes precedence. */
export function loadEnvironment(real: Environment, cwd: string): LoadedEnvironment {
  const file = readDotenv(cwd);
  const ignored = ignoredVariables.filter((name) => name in file && real[name] === undefined);
  for (const name of ignoredVariables) delete file[name];
  return { env: { ...file, ...real }, ignored };
}

/** Parses the `.env` of a folder; empty if there is none. */
export function readDotenv(cwd: string): Record<string, string> {
  try {
    return parseDotenv(readFileSync(join(cwd, ".env"), "utf8"));
  } catch {
    return {};
  }
}
