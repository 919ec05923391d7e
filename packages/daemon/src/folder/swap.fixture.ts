import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { onTestFinished } from "vitest";

// Moves the folder away as soon as it exists, has a link in its place for a moment, and starts over.
const swapScript = `
const { renameSync, symlinkSync, unlinkSync } = require("node:fs");
const [, name, victim] = process.argv;
const attempt = (call, ...args) => { try { call(...args); return true; } catch { return false; } };
process.stdout.write("ready");
for (let count = 0; ; count++) {
  if (!attempt(renameSync, name, name + "-" + count)) continue;
  attempt(symlinkSync, victim, name);
  for (let spins = 0; spins < 20_000; spins++);
  attempt(unlinkSync, name);
}`;

/** Starts a process that keeps replacing the folder `name` in `root` by a link to `victim`, until the test ends. */
export async function startSwapping(root: string, name: string, victim: string): Promise<void> {
  const child = spawn(process.execPath, ["-e", swapScript, join(root, name), victim], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
}
