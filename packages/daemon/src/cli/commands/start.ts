import { fail } from "@thinkery/sdk";
import type { Command } from "commander";
import { locateHome } from "../../home/home.ts";
import { findHost, stopHost } from "../../host/discovery.ts";
import type { Cli } from "../cli.ts";
import { connectAsOwner, isOtherVersion, stopLimit } from "../connect.ts";
import { greet } from "../greeting.ts";
import { examples } from "../help.ts";
import { type HostFlags, hostOptions, lastFlags, noteDifference, parsePort, replacementOptions } from "../host-options.ts";
import { launch } from "../launch.ts";

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
      examples(
        ["start", "start it, print a login link"],
        ["start --port 6000 --foreground", "stay here"],
        ["start --worker src/worker.ts --watch", "with agents of your own"],
      ),
    )
    .action(async ({ foreground, ...flags }: StartFlags) => {
      refuseElsewhere(cli, "start");
      // Refused also when a host runs and stays as it is.
      if (flags.host !== undefined || flags.worker !== undefined) await hostOptions(cli, flags);
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
      examples(["restart", "take up a changed configuration or Worker"], ["restart --no-worker", "back to the stock Worker"]),
    )
    .action(async (flags: HostFlags) => {
      refuseElsewhere(cli, "restart");
      const home = locateHome(cli.env);
      const found = await findHost(home);
      const last = found ? lastFlags(found) : {};
      // A running host is not stopped for one that cannot start.
      await replacementOptions(cli, { ...last, ...flags });
      if (found) await stopHost(home, { timeoutMs: stopLimit });
      await startBackground(cli, { ...last, ...flags });
    });
}

async function startBackground(cli: Cli, flags: HostFlags): Promise<void> {
  const home = locateHome(cli.env);
  let found = await findHost(home);
  if (found && isOtherVersion(cli, found)) {
    flags = { ...lastFlags(found), ...flags };
    await replacementOptions(cli, flags);
    cli.output.say(`The host is version ${found.version} and this is ${cli.version}; restarting it.`);
    await stopHost(home, { timeoutMs: stopLimit });
    found = undefined;
  }
  if (found) noteDifference(cli, flags, found);
  const host = found ?? (await launch(cli, flags, { adoptToken: true }));
  await greet(cli, await connectAsOwner(cli, host), {
    started: !found,
    pid: host.pid,
    version: host.version,
    homePath: home.path,
    howToStop: "thinkery stop",
  });
}

function refuseElsewhere(cli: Cli, verb: string): void {
  if (!cli.env.THINKERY_URL) return;
  throw fail("bad_request", `THINKERY_URL points at another host; unset it to ${verb} the one on this machine.`);
}
