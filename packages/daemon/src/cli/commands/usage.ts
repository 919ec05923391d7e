import { fail } from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { parseTarget } from "../target.ts";
import { type Usage, formatUsageTable } from "../usage-table.ts";

const defaultDays = 30;

export function addUsage(program: Command, cli: Cli): void {
  program
    .command("usage")
    .description("show token usage and cost by day and model, and budget status")
    .argument("[target]", "alice, alice@review or @review (default: all your agencies)")
    .option("--days <number>", "number of days to show, including today", parseDays, defaultDays)
    .addHelpText(
      "after",
      formatExamples(
        ["usage", "your usage of the last 30 days"],
        ["usage @review --days 7", ""],
        ["usage alice --json", ""],
      ),
    )
    .action(async (target: string | undefined, { days }: { days: number }) => {
      const { client } = await connect(cli);
      const { response, usage } = await readUsage(cli, client, target, days);
      cli.output.reply(response, () => formatUsageTable(cli.output, usage, days));
    });
}

function parseDays(text: string): number {
  const days = Number(text);
  if (!/^\d+$/.test(text) || days < 1 || days > 3660)
    throw fail("bad_request", `“${text}” is not a number of days. Use 1 to 3660.`);
  return days;
}

async function readUsage(
  cli: Cli,
  client: Client,
  text: string | undefined,
  days: number,
): Promise<{ response: unknown; usage: Usage }> {
  const query = { days };
  if (text === undefined) {
    const response = await withRetry((signal) => client.call("getUserUsage", { query, signal }));
    return {
      response,
      usage: {
        ...response,
        shares: ["AGENCY", response.byAgency.map(({ agency, ...rest }) => ({ name: agency, ...rest }))],
      },
    };
  }
  const target = parseTarget(cli, text);
  if (target.kind === "agency") {
    const { agency } = target;
    const response = await withRetry((signal) => client.call("getAgencyUsage", { params: { agency }, query, signal }));
    return {
      response,
      usage: {
        ...response,
        shares: ["AGENT", response.byAgent.map(({ agent, ...rest }) => ({ name: agent, ...rest }))],
      },
    };
  }
  await findAgent(client, target);
  const { agency, agent } = target;
  const response = await withRetry((signal) => client.call("getUsage", { params: { agency, agent }, query, signal }));
  const { total, subagents } = response;
  if (!subagents) return { response, usage: response };
  const rows = [
    { name: agent, ...total },
    { name: "its sub-agents", ...subagents },
  ];
  return { response, usage: { ...response, shares: ["AGENT", rows] } };
}
