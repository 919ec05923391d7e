import { fail, type Report, type Standing } from "@thinkery/sdk";
import type { Client } from "@thinkery/sdk/client";
import type { Command } from "commander";
import { findAgent } from "../agents.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { examples } from "../help.ts";
import type { Output } from "../output.ts";
import { persist } from "../persist.ts";
import { standingsTable } from "../standings.ts";
import { costText } from "../talk/lines.ts";
import { parseTarget } from "../target.ts";

type Figures = Report["total"];

/** What was used, and whose shares it is made of. */
interface Usage extends Report {
  shares?: [title: string, rows: (Figures & { name: string })[]];
  budget: Standing[];
}

const usualDays = 30;

export function addUsage(program: Command, cli: Cli): void {
  program
    .command("usage")
    .description("show what was used, by day and model: tokens, cost, and how far budgets are used up")
    .argument("[target]", "alice, alice@review or @review (default: all your agencies)")
    .option("--days <number>", "so many days, today the last", parseDays, usualDays)
    .addHelpText("after", examples(["usage", "yours, of 30 days"], ["usage @review --days 7", ""], ["usage alice --json", ""]))
    .action(async (target: string | undefined, { days }: { days: number }) => {
      const { client } = await connect(cli);
      const { answer, usage } = await read(client, target, days);
      cli.output.reply(answer, () => describe(cli.output, usage, days));
    });
}

function parseDays(text: string): number {
  const days = Number(text);
  if (!/^\d+$/.test(text) || days < 1 || days > 3660) throw fail("bad_request", `“${text}” is not a number of days; give one from 1 to 3660.`);
  return days;
}

async function read(client: Client, text: string | undefined, days: number): Promise<{ answer: unknown; usage: Usage }> {
  const query = { days };
  if (text === undefined) {
    const answer = await persist((signal) => client.call("getUserUsage", { query, signal }));
    return { answer, usage: { ...answer, shares: ["AGENCY", answer.byAgency.map(({ agency, ...rest }) => ({ name: agency, ...rest }))] } };
  }
  const target = parseTarget(text);
  if (target.kind === "agency") {
    const { agency } = target;
    const answer = await persist((signal) => client.call("getAgencyUsage", { params: { agency }, query, signal }));
    return { answer, usage: { ...answer, shares: ["AGENT", answer.byAgent.map(({ agent, ...rest }) => ({ name: agent, ...rest }))] } };
  }
  await findAgent(client, target);
  const { agency, agent } = target;
  const answer = await persist((signal) => client.call("getUsage", { params: { agency, agent }, query, signal }));
  return { answer, usage: answer };
}

function describe(output: Output, { total, byDay, shares, budget }: Usage, days: number): string {
  const parts: string[] = [];
  if (byDay.length === 0) parts.push(`Nothing was used in ${days === 1 ? "the last day" : `${days} days`}.`);
  else {
    const rows = byDay.flatMap(({ day, byModel }) => byModel.map((used, index) => ({ day: index === 0 ? day : "", ...used })));
    const most = Math.max(...rows.map(tokensOf));
    const bars = output.toScreen ? rows.map((row) => bar(tokensOf(row) / most)) : [];
    const lines = rows.map((row, index) => [row.day, row.model, ...numbers(row), bars[index] ?? ""]);
    parts.push(output.table(["DAY", "MODEL", "CALLS", "IN", "OUT", "COST", ""], [...lines, ["all", "", ...numbers(total), ""]]));
  }
  if (shares && shares[1].length > 1) {
    const [title, rows] = shares;
    parts.push(output.table([title, "CALLS", "IN", "OUT", "COST"], rows.map((row) => [row.name, ...numbers(row)])));
  }
  if (budget.length > 0) parts.push(standingsTable(output, budget));
  return parts.join("\n\n");
}

function numbers({ calls, inputTokens, outputTokens, costUsd }: Figures): string[] {
  return [String(calls), String(inputTokens), String(outputTokens), costText(costUsd)];
}

const tokensOf = ({ inputTokens, outputTokens }: Figures) => inputTokens + outputTokens;

const widest = 20;

/** What was used at all is seen. */
function bar(share: number): string {
  return share > 0 ? "▇".repeat(Math.max(1, Math.round(share * widest))) : "";
}
