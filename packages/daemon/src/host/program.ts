import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import { type Input, startChild } from "./process.ts";

/** Generous, because the machine may be busy; a program that does not work fails at once. */
const timeoutMs = 15_000;

/** Searches the PATH for the first of these programs. */
export function findProgram(env: Readonly<Record<string, string | undefined>>, ...names: string[]): string | undefined {
  // A relative folder depends on the current directory, where anybody may have put a program.
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

/** Runs a program that should exit quickly. Returns why it failed, or undefined if it succeeded. */
export async function findFailure({
  command,
  args,
  inputs = [],
}: {
  command: string;
  args: string[];
  inputs?: Input[];
}): Promise<string | undefined> {
  let lastLine = "";
  const handleLine = (line: string) => {
    lastLine = line.slice(0, 200);
  };
  const child = startChild({ command, args, inputs, env: {}, lockFd: undefined, onLine: handleLine });
  const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs);
  const { code, signal, error } = await child.exited;
  clearTimeout(timer);
  if (code === 0) return undefined;
  return lastLine || error?.message || (signal ? `killed by ${signal}` : `exit code ${code}`);
}
