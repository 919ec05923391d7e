import { execFile } from "node:child_process";
import { accessSync, constants, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Environment } from "../config/environment.ts";

const patience = 5_000;

/** Where the first of these programs is, as a shell would find it. */
export function findProgram(env: Environment, ...names: string[]): string | undefined {
  const folders = (env.PATH ?? "").split(delimiter).filter(Boolean);
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

/** What a program prints, or nothing when it fails or takes too long. */
export function outputOf(program: string, args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: patience, killSignal: "SIGKILL", maxBuffer: 64 * 1024 }, (error, stdout) =>
      resolve(error ? undefined : stdout.trim()),
    );
  });
}
