import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { errorFromBody, fail } from "../protocol/errors.ts";

interface DaemonOptions {
  program: string;
  /** Where it works and prints. */
  folder: string;
  args: string[];
  env: Record<string, string>;
}

const startTimeoutMs = 60_000;
const stopTimeoutMs = 15_000;

/** Starts a daemon that ends with this process, and comes back when its host answers. */
export async function startDaemon({ program, folder, args, env }: DaemonOptions): Promise<ChildProcess> {
  const file = join(folder, "printed.log");
  const log = openSync(file, "a", 0o600);
  const daemon = spawn(process.execPath, [program, "host-process", "--tied", ...args], {
    cwd: folder,
    // Ctrl+C is for whoever runs the tests; the daemon hears of it when we are gone.
    detached: true,
    env,
    stdio: ["ignore", log, log, "ipc"],
  });
  closeSync(log);
  try {
    await waitUntilReady(daemon, file);
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
  const gone = new Promise<void>((resolve) => daemon.once("exit", () => resolve()));
  daemon.ref();
  daemon.kill("SIGTERM");
  const late = setTimeout(() => daemon.kill("SIGKILL"), stopTimeoutMs);
  await gone;
  clearTimeout(late);
}

function waitUntilReady(daemon: ChildProcess, file: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const onTimeout = () => fail("unavailable", `The host did not start. ${readPrinted(file)}`);
    const late = setTimeout(() => reject(onTimeout()), startTimeoutMs);
    const settle = (outcome: () => void) => {
      clearTimeout(late);
      outcome();
    };
    daemon.once("message", (report) =>
      settle(() => (isReady(report) ? resolve() : reject(errorFromBody(report) ?? onTimeout()))),
    );
    daemon.once("error", (error) => settle(() => reject(error)));
    daemon.once("exit", () => settle(() => reject(onTimeout())));
  });
}

function isReady(report: unknown): boolean {
  return typeof report === "object" && report !== null && "ready" in report;
}

function readPrinted(file: string): string {
  const text = readFileSync(file, "utf8").trim();
  return text ? `It printed: ${text.slice(-2000)}` : "It printed nothing.";
}
