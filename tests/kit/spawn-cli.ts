import { type ChildProcess, spawn } from "node:child_process";
import { dirname } from "node:path";
import { onTestFinished } from "vitest";
import { cliPath } from "./host-process.ts";

interface SpawnedCli {
  child: ChildProcess;
  out(): string;
  err(): string;
}

/** Runs the CLI until it ends by itself, or the test does. Its host is in `home`. */
export function spawnCli(
  args: string[],
  home: string,
  { cwd = dirname(home), env = {} }: { cwd?: string; env?: Record<string, string> } = {},
): SpawnedCli {
  const child = spawn(process.execPath, [cliPath, ...args], {
    env: { PATH: process.env.PATH ?? "", HOME: dirname(home), THINKERY_HOME: home, NO_COLOR: "1", ...env },
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  let err = "";
  child.stdout.on("data", (chunk) => (out += chunk));
  child.stderr.on("data", (chunk) => (err += chunk));
  return { child, out: () => out, err: () => err };
}
