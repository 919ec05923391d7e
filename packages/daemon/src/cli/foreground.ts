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

/** Runs the host in this process until it is asked to stop. */
export async function runForeground(cli: Cli, flags: HostFlags): Promise<void> {
  const home = locateHome(cli.env);
  const found = await findHost(home);
  if (found && !isOtherVersion(cli, found)) {
    noteDifference(cli, flags, found);
    return greetRunning(cli, home, found);
  }

  // Checked before an older host is stopped for it.
  const options = found
    ? await resolveReplacementOptions(cli, { ...toLastFlags(found), ...flags })
    : await resolveHostOptions(cli, flags);
  if (found) {
    cli.output.writeMessage(`Stopping the host of version ${found.version}; this is ${cli.version}.`);
    await stopHost(home, { timeoutMs: stopTimeoutMs });
  }
  const leave = new AbortController();
  const leaving = leave.signal;
  watchInterrupts(cli, () => leave.abort());
  let host: RunningHost | undefined;
  // What goes wrong before the host runs comes back as the error of the start.
  const onLine = (line: string) => {
    if (host) cli.output.writeMessage(line);
  };
  try {
    host = await runHost({ ...options, onLine });
  } catch (error) {
    // Somebody else's command may have been a moment faster; then theirs is as good.
    const theirs = isThinkeryError(error) && error.code === "conflict" ? await findHost(home) : undefined;
    if (!theirs) throw error;
    return greetRunning(cli, home, theirs);
  }
  stopOnSignals(host);
  void host.stopped.then(() => leave.abort());
  try {
    if (!leaving.aborted) await greetStarted(cli, home, host, leaving);
  } catch (error) {
    if (!leaving.aborted) {
      await host.stop();
      throw error;
    }
  }
  if (leaving.aborted) await host.stop();
  await waitUntilStopped(cli, home, host);
}

/** Waits for the end of a host in this process and says how it came. */
export async function waitUntilStopped(cli: Cli, home: Home, host: RunningHost): Promise<void> {
  const { reason, message } = await host.stopped;
  if (reason === "asked") {
    cli.output.writeMessage("Thinkery has stopped.");
    return;
  }
  const log = formatPath(join(home.logs, `${hostLogName}.log`));
  cli.output.writeMessage(`thinkery: ${message ?? "The host has given up."} The log is ${log}.`);
  cli.setExitCode(exitCodes.failed);
}

// A Ctrl+C while the host still starts is kept until it can be stopped cleanly.
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
