import { join } from "node:path";
import { isThinkeryError } from "@thinkery/sdk";
import { createClient } from "@thinkery/sdk/client";
import { type Home, locateHome } from "../home/home.ts";
import { findHost, type FoundHost, stopHost } from "../host/discovery.ts";
import { type RunningHost, runHost, stopOnSignals } from "../host/host.ts";
import { hostLogName } from "../host/log.ts";
import type { Cli } from "./cli.ts";
import { connectAsOwner, isOtherVersion, stopTimeoutMs } from "./connect.ts";
import { exitCodes } from "./exit.ts";
import { formatPath } from "./format-path.ts";
import { greet } from "./greeting.ts";
import {
  type HostFlags,
  resolveHostOptions,
  toLastFlags,
  noteDifference,
  resolveReplacementOptions,
} from "./host-options.ts";

/** Runs the host in this process until it is stopped. */
export async function runForeground(cli: Cli, flags: HostFlags): Promise<void> {
  const home = locateHome(cli.env);
  const found = await findHost(home);
  if (found && !isOtherVersion(cli, found)) {
    noteDifference(cli, flags, found);
    return greetRunning(cli, home, found);
  }

  // Validated before the older host is stopped.
  const options = found
    ? await resolveReplacementOptions(cli, { ...toLastFlags(found), ...flags })
    : await resolveHostOptions(cli, flags);
  if (found) {
    cli.output.writeMessage(`Stopping the running host: it is version ${found.version}, this CLI is ${cli.version}.`);
    await stopHost(home, { timeoutMs: stopTimeoutMs });
  }
  const stop = new AbortController();
  const { signal } = stop;
  watchInterrupts(cli, () => stop.abort());
  let host: RunningHost | undefined;
  // Errors before the host runs are thrown by runHost.
  const onLine = (line: string) => {
    if (host) cli.output.writeMessage(line);
  };
  try {
    host = await runHost({ ...options, onLine });
  } catch (error) {
    // Another command may have started a host at the same time; use that one.
    const other = isThinkeryError(error) && error.code === "conflict" ? await findHost(home) : undefined;
    if (!other) throw error;
    return greetRunning(cli, home, other);
  }
  stopOnSignals(host);
  void host.stopped.then(() => stop.abort());
  try {
    if (!signal.aborted) await greetStarted(cli, home, host, signal);
  } catch (error) {
    if (!signal.aborted) {
      await host.stop();
      throw error;
    }
  }
  if (signal.aborted) await host.stop();
  await waitUntilStopped(cli, home, host);
}

/** Waits until a host in this process stops, and reports why. */
export async function waitUntilStopped(cli: Cli, home: Home, host: RunningHost): Promise<void> {
  const { reason, message } = await host.stopped;
  if (reason === "requested") {
    cli.output.writeMessage("Thinkery has stopped.");
    return;
  }
  const log = formatPath(join(home.logs, `${hostLogName}.log`));
  cli.output.writeMessage(`thinkery: ${message ?? "The host stopped unexpectedly."} Log: ${log}`);
  cli.setExitCode(exitCodes.failed);
}

// Ctrl+C during startup is deferred until the host can be stopped cleanly.
function watchInterrupts(cli: Cli, onInterrupt: () => void): void {
  cli.takeOverInterrupts();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, onInterrupt);
}

async function greetStarted(cli: Cli, home: Home, host: RunningHost, signal: AbortSignal): Promise<void> {
  const client = createClient({ url: host.url, token: host.token });
  await greet(
    cli,
    { url: host.url, client },
    {
      isStarted: true,
      pid: process.pid,
      version: cli.version ?? "unbuilt",
      homePath: home.path,
      stopHint: "Ctrl+C",
      signal,
    },
  );
}

async function greetRunning(cli: Cli, home: Home, found: FoundHost): Promise<void> {
  await greet(cli, await connectAsOwner(cli, found), {
    isStarted: false,
    pid: found.pid,
    version: found.version,
    homePath: home.path,
    stopHint: "thinkery stop",
  });
}
