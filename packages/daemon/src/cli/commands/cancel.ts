import { fail } from "@thinkery/sdk";
import { withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { listAgencies, mapAgents } from "../lists.ts";
import { type AgentTarget, parseAgentTarget } from "../target.ts";

export function addCancel(program: Command, cli: Cli): void {
  program
    .command("cancel")
    .description("cancel the current turn of an agent")
    .argument("[target]", "agent, as alice or alice@review")
    .option("--turn <id>", "cancel this turn, even if it is queued")
    .option("--all", "cancel all turns of all your agents, including queued ones")
    .addHelpText(
      "after",
      formatExamples(["cancel alice", "the next queued turn starts"], ["cancel --all", "cancel every turn"]),
    )
    .action(async (target: string | undefined, { all, turn }: { all?: boolean; turn?: string }) => {
      if (all && target !== undefined) throw fail("bad_request", "Pass a target or --all, not both.");
      if (all) return cancelAll(cli);
      if (target === undefined) throw fail("bad_request", "Pass the agent whose turn to cancel, or --all.");
      await cancelTurn(cli, parseAgentTarget(cli, target), turn);
    });
}

async function cancelTurn(cli: Cli, target: AgentTarget, runId: string | undefined): Promise<void> {
  const { client } = await connect(cli);
  const { agency, agent } = target;
  const isSubagent = agent.includes("/");
  // A sub-agent that waits to start does not exist yet.
  if (!isSubagent) await findAgent(client, target);
  const response = await withRetry((signal) =>
    client.call("cancelTurn", { params: { agency, agent }, body: runId === undefined ? {} : { runId }, signal }),
  ).catch(async (error: unknown) => {
    if (isSubagent) await findAgent(client, target);
    throw error;
  });
  const canceled = response.status === "canceled";
  const what = isSubagent && runId === undefined ? "work" : "turn";
  cli.output.reply({ agent, agency, canceled, ...response }, () =>
    canceled ? `Canceled the ${what} of ${agent}.` : `${agent} has no turn to cancel.`,
  );
}

async function cancelAll(cli: Cli): Promise<void> {
  const { client } = await connect(cli);
  const canceled: string[] = [];
  for (const { id: agency } of await listAgencies(client)) {
    await mapAgents(client, agency, async ({ name: agent }) => {
      const cancel = () =>
        withRetry((signal) => client.call("cancelTurn", { params: { agency, agent }, body: {}, signal }));
      // Canceling a turn starts the next queued one.
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
