import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { type ErrorBody, errorFromBody, fail, isThinkeryError } from "@thinkery/sdk";
import { type Home, openHome } from "../home/home.ts";
import { findHost, type FoundHost } from "../host/discovery.ts";
import type { Cli } from "./cli.ts";
import { formatPath } from "./format-path.ts";
import type { HostFlags } from "./host-options.ts";

/** Sent by the background process over its IPC channel before it detaches. */
export type LaunchReport = { ready: true } | ErrorBody;

interface LaunchOptions {
  /** Whether THINKERY_TOKEN may become the host's token. */
  adoptToken: boolean;
}

const startTimeoutMs = 30_000;

/** Starts a host that outlives this command; resolves when it responds. */
export async function launchHost(cli: Cli, flags: HostFlags, options: LaunchOptions): Promise<FoundHost> {
  const home = await openHome(cli.env);
  const child = spawnHost(cli, home, flags, options);
  try {
    await waitUntilReady(child, home);
  } catch (error) {
    // Another command may have started a host at the same time; use that one.
    const other = isConflict(error) ? await findHost(home) : undefined;
    if (other) return other;
    throw error;
  } finally {
    if (child.connected) child.disconnect();
    child.unref();
  }
  const host = await findHost(home);
  if (!host)
    throw fail("unavailable", `The host started but does not respond. See the logs in ${formatPath(home.logs)}.`);
  return host;
}

function spawnHost(cli: Cli, home: Home, flags: HostFlags, { adoptToken }: LaunchOptions): ChildProcess {
  const log = openSync(getStartLog(home), "w", 0o600);
  const { THINKERY_TOKEN: token, ...environment } = process.env;
  try {
    return spawn(process.execPath, [cli.entry, "host-process", ...toArguments(flags)], {
      cwd: cli.cwd,
      detached: true,
      env: adoptToken && token ? { ...environment, THINKERY_TOKEN: token } : environment,
      stdio: ["ignore", log, log, "ipc"],
      windowsHide: true,
    });
  } finally {
    closeSync(log);
  }
}

function toArguments(flags: HostFlags): string[] {
  const { worker, watch } = flags;
  const named = {
    "--host": flags.host,
    "--port": flags.port,
    "--worker": worker || undefined,
    "--last-host": flags.lastHost,
    "--last-port": flags.lastPort,
    "--last-worker": flags.lastWorker,
  };
  const args = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return [...args, ...(worker === false ? ["--no-worker"] : []), ...(watch ? ["--watch"] : [])];
}

function waitUntilReady(child: ChildProcess, home: Home): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const createStartError = () =>
      fail("unavailable", `The host did not start. See ${formatPath(getStartLog(home))} for the reason.`);
    const timer = setTimeout(() => {
      child.kill("SIGTERM");
      reject(createStartError());
    }, startTimeoutMs);
    const settle = (outcome: () => void) => {
      clearTimeout(timer);
      outcome();
    };
    child.once("message", (report) =>
      settle(() => (isReady(report) ? resolve() : reject(errorFromBody(report) ?? createStartError()))),
    );
    child.once("error", () => settle(() => reject(createStartError())));
    child.once("exit", () => settle(() => reject(createStartError())));
  });
}

function isReady(report: unknown): boolean {
  return typeof report === "object" && report !== null && "ready" in report;
}

function isConflict(error: unknown): boolean {
  return isThinkeryError(error) && error.code === "conflict";
}

// Raw process output, such as a Node crash; everything else is in the host's own log.
function getStartLog(home: Home): string {
  return join(home.logs, "start.log");
}
