import { fail } from "@thinkery/sdk";
import type { Command } from "commander";
import { locateHome } from "../../home/home.ts";
import { stopHost } from "../../host/discovery.ts";
import type { Cli } from "../cli.ts";
import { connectIfRunning, stopLimit } from "../connect.ts";
import { examples } from "../help.ts";

export function addStop(program: Command, cli: Cli): void {
  program
    .command("stop")
    .description("stop the host; agents go on where they were at the next start")
    .addHelpText("after", examples(["stop", ""]))
    .action(async () => {
      if (cli.env.THINKERY_URL) return stopElsewhere(cli);
      const outcome = await stopHost(locateHome(cli.env), { timeoutMs: stopLimit });
      cli.output.reply({ stopped: outcome === "stopped" }, () =>
        outcome === "stopped" ? "Thinkery has stopped." : "Thinkery was not running.",
      );
    });
}

async function stopElsewhere(cli: Cli): Promise<void> {
  const connection = await connectIfRunning(cli);
  if (!connection) throw fail("unavailable", "No host answers.");
  await connection.client.call("shutdown");
  cli.output.reply({ stopped: true }, () => `The host at ${connection.url} is stopping.`);
}
