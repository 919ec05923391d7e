import { fail } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { formatExamples } from "../help.ts";
import { persist } from "../persist.ts";
import { parseTarget } from "../target.ts";
import { type Usage, formatUsageTable } from "../usage-table.ts";

const defaultDays = 30;

export function addUsage(program: Command, cli: Cli): void {
  program
    .command("usage")
    .description("show what was used, by day and model: tokens, cost, and how far budgets are used up")
    .argument("[target]", "alice, alice@review or @review (default: all your agencies)")
    .option("--days <number>", "so many days, today the last", parseDays, defaultDays)
    .addHelpText(
      "after",
      formatExamples(["usage", "yours, of 30 days"], ["usage @review --days 7", ""], ["usage alice --json", ""]),
    )
    .action(async (target: string | undefined, { days }: { days: number }) => {
      const { client } = await connect(cli);
      const { answer, usage } = await readUsage(client, target, days);
      cli.output.reply(answer, () => formatUsageTable(cli.output, usage, days));
    });
}

function parseDays(text: string): number {
  const days = Number(text);
  if (!/^\d+$/.test(text) || days < 1 || days > 3660)
    throw fail("bad_request", `“${text}” is not a number of days; give one from 1 to 3660.`);
  return days;
}

async function readUsage(
  client: Client,
  text: string | undefined,
  days: number,
): Promise<{ answer: unknown; usage: Usage }> {
  const query = { days };
  if (text === undefined) {
    const answer = await persist((signal) => client.call("getUserUsage", { query, signal }));
    return {
      answer,
      usage: {
        ...answer,
        shares: ["AGENCY", answer.byAgency.map(({ agency, ...rest }) => ({ name: agency, ...rest }))],
      },
    };
  }
  const target = parseTarget(text);
  if (target.kind === "agency") {
    const { agency } = target;
    const answer = await persist((signal) => client.call("getAgencyUsage", { params: { agency }, query, signal }));
    return {
      answer,
      usage: { ...answer, shares: ["AGENT", answer.byAgent.map(({ agent, ...rest }) => ({ name: agent, ...rest }))] },
    };
  }
  await findAgent(client, target);
  const { agency, agent } = target;
  const answer = await persist((signal) => client.call("getUsage", { params: { agency, agent }, query, signal }));
  return { answer, usage: answer };
}
