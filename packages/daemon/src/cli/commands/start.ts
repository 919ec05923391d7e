import { fail } from "@thinkery/sdk";
import type { Command } from "commander";
import { locateHome } from "../../home/home.ts";
import { findHost, stopHost } from "../../host/discovery.ts";
import type { Cli } from "../cli.ts";
import { connectAsOwner, isOtherVersion, stopTimeoutMs } from "../connect.ts";
import { greet } from "../greeting.ts";
import { formatExamples } from "../help.ts";
import {
  type HostFlags,
  resolveHostOptions,
  toLastFlags,
  noteDifference,
  parsePort,
  resolveReplacementOptions,
} from "../host-options.ts";
import { launchHost } from "../launch.ts";

interface StartFlags extends HostFlags {
  foreground?: boolean;
}

export function addStart(program: Command, cli: Cli): void {
  program
    .command("start")
    .description("start the host in the background")
    .option("--port <number>", "listen on exactly this port (default: 5099 or the next free one)", parsePort)
    .option("--host <address>", "listen on this address (default: 127.0.0.1)")
    .option("--worker <file>", "run your own Worker, a .ts or .js file, in place of the stock one")
    .option("--no-worker", "run the stock Worker, whatever the configuration says")
    .option("--watch", "bundle your Worker again when its files change")
    .option("--foreground", "stay here and stop with Ctrl+C")
    .addHelpText(
      "after",
      formatExamples(
        ["start", "start it, print a login link"],
        ["start --port 6000 --foreground", "stay here"],
        ["start --worker src/worker.ts --watch", "with agents of your own"],
      ),
    )
    .action(async ({ foreground, ...flags }: StartFlags) => {
      refuseRemoteHost(cli, "start");
      // Refused also when a host runs and stays as it is.
      if (flags.host !== undefined || flags.worker !== undefined) await resolveHostOptions(cli, flags);
      if (!foreground) return startBackground(cli, flags);
      const { runForeground } = await import("../foreground.ts");
      return runForeground(cli, flags);
    });
}

export function addRestart(program: Command, cli: Cli): void {
  program
    .command("restart")
    .description("stop the host and start it again in the background, where it was")
    .option("--port <number>", "listen on exactly this port", parsePort)
    .option("--host <address>", "listen on this address")
    .option("--worker <file>", "run your own Worker, a .ts or .js file")
    .option("--no-worker", "run the stock Worker again")
    .option("--watch", "bundle your Worker again when its files change")
    .addHelpText(
      "after",
      formatExamples(
        ["restart", "take up a changed configuration or Worker"],
        ["restart --no-worker", "back to the stock Worker"],
      ),
    )
    .action(async (flags: HostFlags) => {
      refuseRemoteHost(cli, "restart");
      const home = locateHome(cli.env);
      const found = await findHost(home);
      const last = found ? toLastFlags(found) : {};
      // A running host is not stopped for one that cannot start.
      await resolveReplacementOptions(cli, { ...last, ...flags });
      if (found) await stopHost(home, { timeoutMs: stopTimeoutMs });
      await startBackground(cli, { ...last, ...flags });
    });
}

async function startBackground(cli: Cli, flags: HostFlags): Promise<void> {
  const home = locateHome(cli.env);
  let found = await findHost(home);
  if (found && isOtherVersion(cli, found)) {
    flags = { ...toLastFlags(found), ...flags };
    await resolveReplacementOptions(cli, flags);
    cli.output.writeMessage(`The host is version ${found.version} and this is ${cli.version}; restarting it.`);
    await stopHost(home, { timeoutMs: stopTimeoutMs });
    found = undefined;
  }
  if (found) noteDifference(cli, flags, found);
  const host = found ?? (await launchHost(cli, flags, { adoptToken: true }));
  await greet(cli, await connectAsOwner(cli, host), {
    isStarted: !found,
    pid: host.pid,
    version: host.version,
    homePath: home.path,
    stopHint: "thinkery stop",
  });
}

function refuseRemoteHost(cli: Cli, verb: string): void {
  if (!cli.env.THINKERY_URL) return;
  throw fail("bad_request", `THINKERY_URL points at another host; unset it to ${verb} the one on this machine.`);
}
