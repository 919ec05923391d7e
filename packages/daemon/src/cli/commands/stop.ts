import { fail } from "@thinkery/sdk";
import type { Command } from "commander";
import { locateHome } from "../../home/home.ts";
import { stopHost } from "../../host/discovery.ts";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect, connectIfRunning, stopTimeoutMs } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { mapAgents, listAgencies } from "../lists.ts";
import { persist } from "../persist.ts";
import { type AgentTarget, parseAgentTarget } from "../target.ts";

export function addStop(program: Command, cli: Cli): void {
  program
    .command("stop")
    .description("stop the host, or cancel what an agent does")
    .argument("[target]", "an agent, as alice or alice@review: its turn is canceled (default: the host)")
    .option("--all", "cancel the turns of all your agents; the host runs on")
    .addHelpText(
      "after",
      formatExamples(
        ["stop", "agents go on where they were at the next start"],
        ["stop alice", "cancel her turn"],
        ["stop --all", "cancel every turn"],
      ),
    )
    .action(async (target: string | undefined, { all }: { all?: boolean }) => {
      if (all && target !== undefined) throw fail("bad_request", "Give a target or --all, not both.");
      if (all) return cancelAll(cli);
      if (target !== undefined) return cancelTurn(cli, parseAgentTarget(target));
      if (cli.env.THINKERY_URL) return stopRemoteHost(cli);
      const outcome = await stopHost(locateHome(cli.env), { timeoutMs: stopTimeoutMs });
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

async function cancelAll(cli: Cli): Promise<void> {
  const { client } = await connect(cli);
  const canceled: string[] = [];
  for (const { id: agency } of await listAgencies(client)) {
    await mapAgents(client, agency, async ({ name: agent }) => {
      const cancel = () =>
        persist((signal) => client.call("cancelTurn", { params: { agency, agent }, body: {}, signal }));
      // What waits behind a turn would begin when it is gone.
      for (let { status } = await cancel(); status === "canceled"; { status } = await cancel())
        canceled.push(`${agent}@${agency}`);
    });
  }
  cli.output.reply({ canceled }, () =>
    canceled.length > 0
      ? `Canceled the turns of ${[...new Set(canceled)].join(", ")}.`
      : "No agent has a turn to cancel.",
  );
}

async function stopRemoteHost(cli: Cli): Promise<void> {
  const connection = await connectIfRunning(cli);
  if (!connection) throw fail("unavailable", "No host answers.");
  await connection.client.call("shutdown");
  cli.output.reply({ stopped: true }, () => `The host at ${connection.url} is stopping.`);
}
