import type { AgentUsage } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatCost } from "../conversation/lines.ts";
import { formatExamples } from "../help.ts";
import { mapAgents } from "../lists.ts";
import type { Output } from "../output.ts";
import { type AgentTarget, getDefaultAgency, parseTarget } from "../target.ts";

export function addStats(program: Command, cli: Cli): void {
  program
    .command("stats")
    .description("show tokens, cost, calls and turns of agents")
    .argument("[target]", "alice, alice@review or @review (default: @global)")
    .addHelpText("after", formatExamples(["stats", "one row per agent, and the total"], ["stats alice", "by model"]))
    .action(async (text: string | undefined) => {
      const target = parseTarget(cli, text ?? `@${getDefaultAgency(cli)}`);
      const { client } = await connect(cli);
      await (target.kind === "agent" ? showAgent(cli, client, target) : showAgency(cli, client, target.agency));
    });
}

async function showAgent(cli: Cli, client: Client, target: AgentTarget): Promise<void> {
  await findAgent(client, target);
  const usage = await readUsage(client, target.agency, target.agent);
  cli.output.reply({ agent: target.agent, agency: target.agency, ...usage }, () => describeUsage(cli.output, usage));
}

export function readUsage(client: Client, agency: string, agent: string): Promise<AgentUsage> {
  return withRetry((signal) => client.call("getUsage", { params: { agency, agent }, signal }));
}

export function describeUsage(output: Output, { total, byModel, turns, messages, events }: AgentUsage): string {
  const fields = output.formatFields([
    ["turns", formatTurns(turns)],
    ["calls", String(total.calls)],
    ["tokens in", formatWithPart(total.inputTokens, total.cachedInputTokens, "cached")],
    ["tokens out", formatWithPart(total.outputTokens, total.reasoningTokens, "reasoning")],
    ["cost", formatCost(total.costUsd)],
    ["messages", String(messages)],
    ["events", String(events)],
  ]);
  if (byModel.length === 0) return fields;
  const rows = byModel.map((usage) => [usage.model, ...formatNumbers(usage)]);
  return `${fields}\n\n${output.formatTable(["MODEL", "CALLS", "IN", "OUT", "COST"], rows)}`;
}

async function showAgency(cli: Cli, client: Client, agency: string): Promise<void> {
  const agents = await mapAgents(client, agency, async ({ name }) => ({
    agent: name,
    ...(await readUsage(client, agency, name)),
  }));
  const total = sumUsage(agents);
  cli.output.reply({ agency, agents, total }, () => {
    const rows = agents.map(({ agent, turns, total }) => [agent, String(countTurns(turns)), ...formatNumbers(total)]);
    const all = [
      "total",
      String(agents.reduce((turns, { turns: own }) => turns + countTurns(own), 0)),
      ...formatNumbers(total),
    ];
    return cli.output.formatTable(["AGENT", "TURNS", "CALLS", "IN", "OUT", "COST"], [...rows, all]);
  });
}

type Total = AgentUsage["total"];

function sumUsage(usages: AgentUsage[]): Pick<Total, "calls" | "inputTokens" | "outputTokens" | "costUsd"> {
  return usages.reduce(
    (all, { total }) => ({
      calls: all.calls + total.calls,
      inputTokens: all.inputTokens + total.inputTokens,
      outputTokens: all.outputTokens + total.outputTokens,
      // One unknown price makes the total unknown.
      costUsd: all.costUsd === null || total.costUsd === null ? null : all.costUsd + total.costUsd,
    }),
    { calls: 0, inputTokens: 0, outputTokens: 0, costUsd: 0 as number | null },
  );
}

function formatNumbers({
  calls,
  inputTokens,
  outputTokens,
  costUsd,
}: Pick<Total, "calls" | "inputTokens" | "outputTokens" | "costUsd">) {
  return [String(calls), String(inputTokens), String(outputTokens), formatCost(costUsd)];
}

function countTurns({ completed, error, canceled, open }: AgentUsage["turns"]): number {
  return completed + error + canceled + open;
}

function formatTurns(turns: AgentUsage["turns"]): string {
  const parts = (
    [
      ["failed", turns.error],
      ["canceled", turns.canceled],
      ["open", turns.open],
    ] as const
  )
    .filter(([, amount]) => amount > 0)
    .map(([label, amount]) => `${amount} ${label}`);
  return `${countTurns(turns)}${parts.length > 0 ? ` (${parts.join(", ")})` : ""}`;
}

function formatWithPart(amount: number, part: number | undefined, label: string): string {
  return part ? `${amount} (${part} ${label})` : String(amount);
}
