import {
  type Blueprint,
  type Budget,
  type BudgetResponse,
  type BudgetKind,
  budgetKinds,
  type BudgetPeriod,
  budgetPeriods,
  fail,
} from "@thinkery/sdk";
import { type Client, withRetry } from "@thinkery/sdk/client";
import { type Command, Option } from "commander";
import { findAgent } from "../agents.ts";
import { formatAmount, kindNames, formatBudgetTable } from "../budget-table.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { parseDuration } from "../duration.ts";
import { formatExamples } from "../help.ts";
import type { Output } from "../output.ts";
import { type AgentTarget, parseTarget } from "../target.ts";

/** A limit to set, or “none” to remove it. */
type LimitValue = number | "none" | undefined;

interface SetFlags {
  cost?: LimitValue;
  tokens?: LimitValue;
  steps?: LimitValue;
  time?: LimitValue;
  per?: BudgetPeriod;
}

export function addBudget(program: Command, cli: Cli): void {
  const group = program
    .command("budget")
    .description("show, set and clear spending limits, for yourself or an agency")
    .argument("[target]", "@review, alice or alice@review (default: your own budget)")
    .addHelpText(
      "after",
      formatExamples(
        ["budget", "your budget and how much of it is used"],
        ["budget alice", "all limits that apply to an agent"],
      ),
    )
    .action(async (text: string | undefined) => {
      const { client } = await connect(cli);
      const target = text === undefined ? undefined : parseTarget(cli, text);
      if (target?.kind === "agent") return showAgent(cli, client, target);
      const response = await readBudget(client, target?.agency);
      cli.output.reply(response, () => describeBudget(cli.output, response, target?.agency));
    });

  group
    .command("set")
    .description("set limits; others stay unchanged")
    .argument("[agency]", "agency, as @review (default: all your agencies together)")
    .option("--cost <dollars>", "cost limit in US dollars, or none", createLimitParser("costUsd"))
    .option(
      "--tokens <number>",
      "limit of input and output tokens, such as 500000, 500k or 2M, or none",
      createLimitParser("tokens"),
    )
    .option("--steps <number>", "limit of model calls, or none", createLimitParser("steps"))
    .option(
      "--time <duration>",
      "limit of model and tool time, such as 90m or 12h, or none",
      createLimitParser("seconds"),
    )
    .addOption(
      new Option(
        "--per <period>",
        "when limits reset: every day (UTC), or never (default: unchanged, initially ever)",
      ).choices(budgetPeriods),
    )
    .addHelpText(
      "after",
      formatExamples(["budget set --cost 5 --per day", ""], ["budget set @review --tokens 2M --time none", ""]),
    )
    .action(async (text: string | undefined, { cost, tokens, steps, time, per }: SetFlags) => {
      const agency = parseAgency(cli, text);
      const given: Record<BudgetKind, LimitValue> = { costUsd: cost, tokens, steps, seconds: time };
      if (per === undefined && budgetKinds.every((kind) => given[kind] === undefined)) {
        throw fail("bad_request", "Specify a limit: --cost, --tokens, --steps or --time.");
      }
      const { client } = await connect(cli);
      const { budget } = await readBudget(client, agency);
      const response = await writeBudget(client, agency, mergeBudget(budget, given, per));
      cli.output.reply(response, () => describeBudget(cli.output, response, agency));
    });

  group
    .command("clear")
    .description("remove all limits")
    .argument("[agency]", "agency, as @review (default: all your agencies together)")
    .addHelpText("after", formatExamples(["budget clear", ""], ["budget clear @review", ""]))
    .action(async (text: string | undefined) => {
      const agency = parseAgency(cli, text);
      const { client } = await connect(cli);
      const response = await writeBudget(client, agency, undefined);
      cli.output.reply(response, () => describeBudget(cli.output, response, agency));
    });
}

/** Rejects agents: their budget comes from their blueprint, which other agents may share. */
function parseAgency(cli: Cli, text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const target = parseTarget(cli, text);
  if (target.kind === "agency") return target.agency;
  throw fail(
    "bad_request",
    `${target.agent} is an agent; set its budget in its blueprint, under config.budget. For an agency, use @${target.agency}.`,
  );
}

function createLimitParser(kind: BudgetKind): (text: string) => number | "none" {
  return (text) => {
    if (text === "none") return text;
    const amount = kind === "seconds" ? parseDuration(text) : parseAmount(text);
    if (amount > 0 && (kind === "costUsd" || Number.isSafeInteger(amount))) return amount;
    const rule =
      kind === "costUsd" ? "an amount above 0" : kind === "seconds" ? "a duration above 0" : "a whole number above 0";
    throw fail(
      "bad_request",
      `“${text}” is not a valid limit for ${kindNames[kind]}. Use ${rule}, or none for no limit.`,
    );
  };
}

const unitFactors: Record<string, number> = { "": 1, k: 1000, m: 1_000_000 };

function parseAmount(text: string): number {
  const [, digits, unit = ""] = /^\$?(\d{1,15}(?:\.\d{1,9})?)([kM]?)$/i.exec(text) ?? [];
  // Rounds away binary floating-point errors.
  return digits === undefined
    ? Number.NaN
    : Number((Number(digits) * (unitFactors[unit.toLowerCase()] ?? 1)).toFixed(9));
}

function mergeBudget(
  before: Budget | null,
  given: Record<BudgetKind, LimitValue>,
  per: BudgetPeriod | undefined,
): Budget | undefined {
  const budget: Budget = { per: per ?? before?.per ?? "ever" };
  for (const kind of budgetKinds) {
    const amount = given[kind] === undefined ? before?.[kind] : given[kind];
    if (amount !== undefined && amount !== "none") budget[kind] = amount;
  }
  if (budgetKinds.some((kind) => budget[kind] !== undefined)) return budget;
  if (before) return undefined;
  throw fail("bad_request", "No budget is set yet. Specify a limit: --cost, --tokens, --steps or --time.");
}

function readBudget(client: Client, agency: string | undefined): Promise<BudgetResponse> {
  if (agency === undefined) return withRetry((signal) => client.call("getUserBudget", { signal }));
  return withRetry((signal) => client.call("getAgencyBudget", { params: { agency }, signal }));
}

async function writeBudget(
  client: Client,
  agency: string | undefined,
  body: Budget | undefined,
): Promise<BudgetResponse> {
  if (body)
    return agency === undefined
      ? client.call("putUserBudget", { body })
      : client.call("putAgencyBudget", { params: { agency }, body });
  await (agency === undefined
    ? client.call("deleteUserBudget")
    : client.call("deleteAgencyBudget", { params: { agency } }));
  return { budget: null, statuses: [] };
}

function describeBudget(output: Output, { budget, statuses }: BudgetResponse, agency: string | undefined): string {
  if (budget) return formatBudgetTable(output, statuses);
  const target = agency === undefined ? "" : ` @${agency}`;
  return `No budget is set for ${agency ?? "you"}. Set one with \`thinkery budget set${target} --cost 5 --per day\`.`;
}

/** Shows the limits from the agent's blueprint, its agency and the user. */
async function showAgent(cli: Cli, client: Client, target: AgentTarget): Promise<void> {
  const found = await findAgent(client, target);
  const { agency, agent } = target;
  const { budget: statuses } = await withRetry((signal) =>
    client.call("getUsage", { params: { agency, agent }, signal }),
  );
  const { config } = await withRetry((signal) =>
    client.call("getBlueprint", { params: { agency, name: found.blueprint }, signal }),
  );
  const budget = config?.budget ?? null;
  cli.output.reply({ agent, agency, blueprint: found.blueprint, budget, statuses }, () => {
    const note = `${agent}'s own budget is set in the blueprint “${found.blueprint}”, under config.budget.`;
    return [
      formatTurnBudget(budget),
      ...(statuses.length > 0 ? [formatBudgetTable(cli.output, statuses)] : []),
      note,
    ].join("\n\n");
  });
}

function formatTurnBudget(budget: NonNullable<Blueprint["config"]>["budget"] | null): string {
  const limits = budgetKinds.flatMap((kind) => {
    const limit = budget?.[kind];
    return limit === undefined ? [] : [`${kindNames[kind]} ${formatAmount(kind, limit)}`];
  });
  return limits.length > 0 ? `Limits per turn: ${limits.join(", ")}.` : "No limits per turn.";
}
