#!/usr/bin/env node
import { fileURLToPath } from "node:url";
import { exitCodes } from "./cli/exit.ts";
import { run } from "./cli/run.ts";
import { readBuildVersion } from "./cli/version.ts";

const exitInterrupted = () => process.exit(exitCodes.interrupted);
process.on("SIGINT", exitInterrupted);

// A reader such as `head` that has seen enough is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.ok);
  throw error;
});

// Nothing is left to wait for and still there is no end: a request was lost together with the host.
const exitHostLost = () => {
  process.stderr.write("thinkery: The host went away without an answer; try again.\n");
  process.exit(exitCodes.noHost);
};
process.once("beforeExit", exitHostLost);

process.exitCode = await run({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  entry: fileURLToPath(import.meta.url),
  version: readBuildVersion(new URL(import.meta.url)),
  stdout: process.stdout,
  stderr: process.stderr,
  isInteractive: Boolean(process.stdin.isTTY && process.stderr.isTTY),
  takeOverInterrupts: () => process.off("SIGINT", exitInterrupted),
});
process.off("beforeExit", exitHostLost);
