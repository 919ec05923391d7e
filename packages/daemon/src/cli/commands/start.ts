import { fail } from "@thinkery/sdk";
import type { Command } from "commander";
import { locateHome } from "../../home/home.ts";
import { findHost, stopHost } from "../../host/discovery.ts";
import type { Cli } from "../cli.ts";
import { connectAsOwner, isOtherVersion, stopLimit } from "../connect.ts";
import { greet } from "../greeting.ts";
import { examples } from "../help.ts";
import { hostOptions, noteAddress, type ListenFlags, parsePort } from "../host-options.ts";
import { launch } from "../launch.ts";

interface StartFlags extends ListenFlags {
  foreground?: boolean;
}

export function addStart(program: Command, cli: Cli): void {
  program
    .command("start")
    .description("start the host in the background")
    .option("--port <number>", "listen on exactly this port (default: 5099 or the next free one)", parsePort)
    .option("--host <address>", "listen on this address (default: 127.0.0.1)")
    .option("--foreground", "stay here and stop with Ctrl+C")
    .addHelpText(
      "after",
      examples(["start", "start it, print a login link"], ["start --port 6000 --foreground", "stay here"]),
    )
    .action(async ({ foreground, ...flags }: StartFlags) => {
      refuseElsewhere(cli, "start");
      // Refused also when a host runs and its address will not change.
      if (flags.host !== undefined) await hostOptions(cli, flags);
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
    .addHelpText("after", examples(["restart", "take up a changed configuration"]))
    .action(async (flags: ListenFlags) => {
      refuseElsewhere(cli, "restart");
      const home = locateHome(cli.env);
      const found = await findHost(home);
      const last = found ? { lastHost: found.host, lastPort: found.port } : {};
      // A running host is not stopped for one that cannot start.
      await hostOptions(cli, { ...last, ...flags });
      if (found) await stopHost(home, { timeoutMs: stopLimit });
      await startBackground(cli, { ...last, ...flags });
    });
}

async function startBackground(cli: Cli, flags: ListenFlags): Promise<void> {
  const home = locateHome(cli.env);
  let found = await findHost(home);
  if (found && isOtherVersion(cli, found)) {
    await hostOptions(cli, flags);
    cli.output.say(`The host is version ${found.version} and this is ${cli.version}; restarting it.`);
    await stopHost(home, { timeoutMs: stopLimit });
    flags = { lastHost: found.host, lastPort: found.port, ...flags };
    found = undefined;
  }
  if (found) noteAddress(cli, flags, found);
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
