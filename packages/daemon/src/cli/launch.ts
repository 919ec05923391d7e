import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { type ErrorBody, errorFromBody, fail, isThinkeryError } from "@thinkery/sdk";
import { type Home, openHome } from "../home/home.ts";
import { findHost, type FoundHost } from "../host/discovery.ts";
import type { Cli } from "./cli.ts";
import { formatPath } from "./format-path.ts";
import type { HostFlags } from "./host-options.ts";

/** What the background process tells us over its channel before it is on its own. */
export type LaunchReport = { ready: true } | ErrorBody;

interface LaunchOptions {
  /** THINKERY_TOKEN may become the host's token. False when nobody asked for a new one. */
  adoptToken: boolean;
}

const startTimeoutMs = 30_000;

/** Starts a host that outlives this command, and comes back when it answers. */
export async function launchHost(cli: Cli, flags: HostFlags, options: LaunchOptions): Promise<FoundHost> {
  const home = await openHome(cli.env);
  const child = spawnHost(cli, home, flags, options);
  try {
    await waitUntilReady(child, home);
  } catch (error) {
    // Somebody else's command may have been a moment faster; then theirs is as good.
    const theirs = isConflict(error) ? await findHost(home) : undefined;
    if (theirs) return theirs;
    throw error;
  } finally {
    if (child.connected) child.disconnect();
    child.unref();
  }
  const host = await findHost(home);
  if (!host) throw fail("unavailable", `The host started but does not answer; see ${formatPath(home.logs)}.`);
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
  const given = Object.entries(named).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]));
  return [...given, ...(worker === false ? ["--no-worker"] : []), ...(watch ? ["--watch"] : [])];
}

function waitUntilReady(child: ChildProcess, home: Home): Promise<void> {
  return new Promise<void>((resolve, reject) => {
    const onTimeout = () =>
      fail("unavailable", `The host did not start; see ${formatPath(getStartLog(home))} for the reason.`);
    const timer = setTimeout(() => {
      child.kill("SIGTERM");
      reject(onTimeout());
    }, startTimeoutMs);
    const settle = (outcome: () => void) => {
      clearTimeout(timer);
      outcome();
    };
    child.once("message", (report) =>
      settle(() => (isReady(report) ? resolve() : reject(errorFromBody(report) ?? onTimeout()))),
    );
    child.once("error", () => settle(() => reject(onTimeout())));
    child.once("exit", () => settle(() => reject(onTimeout())));
  });
}

function isReady(report: unknown): boolean {
  return typeof report === "object" && report !== null && "ready" in report;
}

function isConflict(error: unknown): boolean {
  return isThinkeryError(error) && error.code === "conflict";
}

// What the process prints by itself, such as a crash of Node; all else is in the host's own log.
function getStartLog(home: Home): string {
  return join(home.logs, "start.log");
}
