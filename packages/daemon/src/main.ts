#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { exitCodes } from "./cli/exit.ts";
import { run } from "./cli/run.ts";

const exitInterrupted = () => process.exit(exitCodes.interrupted);
process.on("SIGINT", exitInterrupted);

// A reader such as `head` closing the pipe early is not a failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(exitCodes.ok);
  throw error;
});

// The event loop is empty but the command has not finished: a request was lost because the host died.
const exitHostLost = () => {
  process.stderr.write("thinkery: The host stopped without responding. Try again.\n");
  process.exit(exitCodes.noHost);
};
process.once("beforeExit", exitHostLost);

/** Reads the version from the `build.json` next to the bundle; undefined in an unbuilt checkout. */
function readBuildVersion(entry: URL): string | undefined {
  try {
    const { version } = JSON.parse(readFileSync(new URL("./build.json", entry), "utf8")) as { version?: unknown };
    return typeof version === "string" ? version : undefined;
  } catch {
    return undefined;
  }
}

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
