import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errorFromBody, fail } from "../protocol/errors.ts";

interface DaemonOptions {
  program: string;
  /** Its working directory, which also gets its output. */
  folder: string;
  args: string[];
  env: Record<string, string>;
}

const startTimeoutMs = 60_000;
const stopTimeoutMs = 15_000;

/** Starts a daemon that ends with this process. Resolves when its host is ready. */
export async function startDaemon({ program, folder, args, env }: DaemonOptions): Promise<ChildProcess> {
  const logFile = join(folder, "printed.log");
  const log = openSync(logFile, "a", 0o600);
  const daemon = spawn(process.execPath, [program, "host-process", "--tied", ...args], {
    cwd: folder,
    // Ctrl+C is for the test runner. The daemon notices when this process is gone.
    detached: true,
    env,
    stdio: ["ignore", log, log, "ipc"],
  });
  closeSync(log);
  try {
    await waitUntilReady(daemon, logFile);
  } catch (error) {
    await stopDaemon(daemon);
    throw error;
  }
  daemon.unref();
  daemon.channel?.unref();
  return daemon;
}

export async function stopDaemon(daemon: ChildProcess): Promise<void> {
  if (daemon.pid === undefined || daemon.exitCode !== null || daemon.signalCode !== null) return;
  const exited = new Promise<void>((resolve) => daemon.once("exit", () => resolve()));
  daemon.ref();
  daemon.kill("SIGTERM");
  const timer = setTimeout(() => daemon.kill("SIGKILL"), stopTimeoutMs);
  await exited;
  clearTimeout(timer);
}

function waitUntilReady(daemon: ChildProcess, logFile: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const createError = () => fail("unavailable", `The host did not start. ${readOutput(logFile)}`);
    const timer = setTimeout(() => reject(createError()), startTimeoutMs);
    const settle = (resolveOrReject: () => void) => {
      clearTimeout(timer);
      resolveOrReject();
    };
    daemon.once("message", (report) =>
      settle(() => (isReady(report) ? resolve() : reject(errorFromBody(report) ?? createError()))),
    );
    daemon.once("error", (error) => settle(() => reject(error)));
    daemon.once("exit", () => settle(() => reject(createError())));
  });
}

function isReady(report: unknown): boolean {
  return typeof report === "object" && report !== null && "ready" in report;
}

function readOutput(logFile: string): string {
  const text = readFileSync(logFile, "utf8").trim();
  return text ? `Its output: ${text.slice(-2000)}` : "It printed nothing.";
}
