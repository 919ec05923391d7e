import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { startChild } from "./process.ts";

/** A machine may be busy, and what does not work says so at once. */
const timeoutMs = 15_000;

/** Where the first of these programs is, as a shell would find it. */
export function findProgram(env: Readonly<Record<string, string | undefined>>, ...names: string[]): string | undefined {
  // What a relative folder means depends on where one stands, and anybody may have put a program there.
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isProgram);
}

export function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Runs a program that should be done at once. Says why it does not work here, and nothing when it does. */
export async function findFailure([command, ...args]: [string, ...string[]]): Promise<string | undefined> {
  let words = "";
  const handleLine = (line: string) => {
    words = line.slice(0, 200);
  };
  const child = startChild({ command, args, env: {}, lockFd: undefined, onLine: handleLine });
  const late = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  const { code, signal, error } = await child.exited;
  clearTimeout(late);
  if (code === 0) return undefined;
  return words || error?.message || (signal ? `ended by ${signal}` : `exit code ${code}`);
}
