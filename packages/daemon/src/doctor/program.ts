import { execFile } from "node:child_process";

const timeoutMs = 5_000;

/** Returns what a program prints; undefined if it fails or times out. */
export function readOutput(program: string, args: string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(program, args, { timeout: timeoutMs, killSignal: "SIGKILL", maxBuffer: 64 * 1024 }, (error, stdout) =>
      resolve(error ? undefined : stdout.trim()),
    );
  });
}
