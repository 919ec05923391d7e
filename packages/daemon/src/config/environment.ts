import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseDotenv } from "./dotenv.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

interface LoadedEnvironment {
  env: Environment;
  /** Names found in `.env` that are not taken from there. */
  ignored: string[];
}

// A folder somebody else wrote must not choose which host is trusted or which token opens it.
const ignoredVariables = ["THINKERY_HOME", "THINKERY_URL", "THINKERY_TOKEN"];

/** The real environment, and under it the working folder's `.env`. */
export function loadEnvironment(real: Environment, cwd: string): LoadedEnvironment {
  const file = readDotenv(cwd);
  const ignored = ignoredVariables.filter((name) => name in file && real[name] === undefined);
  for (const name of ignoredVariables) delete file[name];
  return { env: { ...file, ...real }, ignored };
}

/** What the `.env` of a folder says, nothing when there is none. */
export function readDotenv(cwd: string): Record<string, string> {
  try {
    return parseDotenv(readFileSync(join(cwd, ".env"), "utf8"));
  } catch {
    return {};
  }
}
