import { fail } from "@thinkery/sdk";
import type { Command } from "commander";
import { locateHome } from "../../home/home.ts";
import { stopHost } from "../../host/discovery.ts";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect, connectIfRunning, stopLimit } from "../connect.ts";
import { examples } from "../help.ts";
import { persist } from "../persist.ts";
import { type AgentTarget, parseAgentTarget } from "../target.ts";

export function addStop(program: Command, cli: Cli): void {
  program
    .command("stop")
    .description("stop the host, or cancel what an agent does")
    .argument("[target]", "an agent, as alice or alice@review: its turn is canceled (default: the host)")
    .addHelpText("after", examples(["stop", "agents go on where they were at the next start"], ["stop alice", "cancel her turn"]))
    .action(async (target: string | undefined) => {
      if (target !== undefined) return cancelTurn(cli, parseAgentTarget(target));
      if (cli.env.THINKERY_URL) return stopElsewhere(cli);
      const outcome = await stopHost(locateHome(cli.env), { timeoutMs: stopLimit });
      cli.output.reply({ stopped: outcome === "stopped" }, () =>
        outcome === "stopped" ? "Thinkery has stopped." : "Thinkery was not running.",
      );
    });
}

async function cancelTurn(cli: Cli, target: AgentTarget): Promise<void> {
  const { client } = await connect(cli);
  await findAgent(client, target);
  const { agency, agent } = target;
  const answer = await persist((signal) => client.call("cancelTurn", { params: { agency, agent }, body: {}, signal }));
  const canceled = answer.status === "canceled";
  cli.output.reply({ agent, agency, canceled, ...answer }, () =>
    canceled ? `Canceled the turn of ${agent}.` : `${agent} has no turn to cancel.`,
  );
}

async function stopElsewhere(cli: Cli): Promise<void> {
  const connection = await connectIfRunning(cli);
  if (!connection) throw fail("unavailable", "No host answers.");
  await connection.client.call("shutdown");
  cli.output.reply({ stopped: true }, () => `The host at ${connection.url} is stopping.`);
}
