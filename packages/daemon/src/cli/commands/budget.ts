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
import type { Client } from "@thinkery/sdk/client";
import { type Command, Option } from "commander";
import { findAgent } from "../agents.ts";
import { formatAmount, kindNames, formatBudgetTable } from "../budget-table.ts";
import type { Cli } from "../cli.ts";
import { connect } from "../connect.ts";
import { parseDuration } from "../duration.ts";
import { formatExamples } from "../help.ts";
import type { Output } from "../output.ts";
import { persist } from "../persist.ts";
import { type AgentTarget, parseTarget } from "../target.ts";

/** A limit that is given, or taken away. */
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
    .description("show, set and clear what may be spent: yours, or that of an agency")
    .argument("[target]", "@review, alice or alice@review (default: yours)")
    .addHelpText(
      "after",
      formatExamples(
        ["budget", "yours, and how far it is used up"],
        ["budget alice", "every limit that holds for an agent"],
      ),
    )
    .action(async (text: string | undefined) => {
      const { client } = await connect(cli);
      const target = text === undefined ? undefined : parseTarget(text);
      if (target?.kind === "agent") return showAgent(cli, client, target);
      const answer = await readBudget(client, target?.agency);
      cli.output.reply(answer, () => describeBudget(cli.output, answer, target?.agency));
    });

  group
    .command("set")
    .description("set limits; those that are not named stay as they are")
    .argument("[agency]", "as @review (default: for all your agencies together)")
    .option("--cost <dollars>", "US dollars, or none", limit("costUsd"))
    .option("--tokens <number>", "tokens in and out, as 500000, 500k or 2M, or none", limit("tokens"))
    .option("--steps <number>", "calls to models, or none", limit("steps"))
    .option("--time <duration>", "time with models and tools, as 90m or 12h, or none", limit("seconds"))
    .addOption(
      new Option("--per <period>", "anew every day (UTC), or for good (default: as it was, else ever)").choices(
        budgetPeriods,
      ),
    )
    .addHelpText(
      "after",
      formatExamples(["budget set --cost 5 --per day", ""], ["budget set @review --tokens 2M --time none", ""]),
    )
    .action(async (text: string | undefined, { cost, tokens, steps, time, per }: SetFlags) => {
      const agency = parseAgency(text);
      const given: Record<BudgetKind, LimitValue> = { costUsd: cost, tokens, steps, seconds: time };
      if (per === undefined && budgetKinds.every((kind) => given[kind] === undefined)) {
        throw fail("bad_request", "Say what to limit: --cost, --tokens, --steps or --time.");
      }
      const { client } = await connect(cli);
      const { budget } = await readBudget(client, agency);
      const wanted = mergeBudget(budget, given, per);
      const answer = await writeBudget(client, agency, wanted);
      cli.output.reply(answer, () => describeBudget(cli.output, answer, agency));
    });

  group
    .command("clear")
    .description("limit nothing any more")
    .argument("[agency]", "as @review (default: for all your agencies together)")
    .addHelpText("after", formatExamples(["budget clear", ""], ["budget clear @review", ""]))
    .action(async (text: string | undefined) => {
      const agency = parseAgency(text);
      const { client } = await connect(cli);
      const answer = await writeBudget(client, agency, undefined);
      cli.output.reply(answer, () => describeBudget(cli.output, answer, agency));
    });
}

/** Agents have theirs from their blueprint, which may be that of others too. */
function parseAgency(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const target = parseTarget(text);
  if (target.kind === "agency") return target.agency;
  throw fail(
    "bad_request",
    `${target.agent} is an agent; its budget stands in its blueprint, under config.budget. An agency is written as @${target.agency}.`,
  );
}

function limit(kind: BudgetKind): (text: string) => number | "none" {
  return (text) => {
    if (text === "none") return text;
    const amount = kind === "seconds" ? parseDuration(text) : parseAmount(text);
    if (amount > 0 && (kind === "costUsd" || Number.isSafeInteger(amount))) return amount;
    const rule =
      kind === "costUsd" ? "an amount above 0" : kind === "seconds" ? "a time above 0" : "a whole number above 0";
    throw fail("bad_request", `“${text}” is no limit of ${kindNames[kind]}; give ${rule}, or none for no limit.`);
  };
}

const unitFactors: Record<string, number> = { "": 1, k: 1000, m: 1_000_000 };

function parseAmount(text: string): number {
  const [, digits, unit = ""] = /^\$?(\d{1,15}(?:\.\d{1,9})?)([kM]?)$/i.exec(text) ?? [];
  // Twice 0.1 is 0.2 everywhere but in binary.
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
  throw fail("bad_request", "There is no budget yet; say what to limit: --cost, --tokens, --steps or --time.");
}

function readBudget(client: Client, agency: string | undefined): Promise<BudgetResponse> {
  if (agency === undefined) return persist((signal) => client.call("getUserBudget", { signal }));
  return persist((signal) => client.call("getAgencyBudget", { params: { agency }, signal }));
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
  return `Nothing is limited ${agency === undefined ? "for you" : `in ${agency}`}; \`thinkery budget set${target} --cost 5 --per day\` would.`;
}

/** What its blueprint allows, and what its agency and you do. */
async function showAgent(cli: Cli, client: Client, target: AgentTarget): Promise<void> {
  const found = await findAgent(client, target);
  const { agency, agent } = target;
  const { budget: statuses } = await persist((signal) =>
    client.call("getUsage", { params: { agency, agent }, signal }),
  );
  const { config } = await persist((signal) =>
    client.call("getBlueprint", { params: { agency, name: found.blueprint }, signal }),
  );
  const budget = config?.budget ?? null;
  cli.output.reply({ agent, agency, blueprint: found.blueprint, budget, statuses }, () => {
    const about = `${agent}'s own budget stands in the blueprint “${found.blueprint}”, under config.budget.`;
    return [
      formatTurnBudget(budget),
      ...(statuses.length > 0 ? [formatBudgetTable(cli.output, statuses)] : []),
      about,
    ].join("\n\n");
  });
}

function formatTurnBudget(budget: NonNullable<Blueprint["config"]>["budget"] | null): string {
  const limits = budgetKinds.flatMap((kind) => {
    const limit = budget?.[kind];
    return limit === undefined ? [] : [`${kindNames[kind]} ${formatAmount(kind, limit)}`];
  });
  return limits.length > 0 ? `A turn may take: ${limits.join(", ")}.` : "A turn has no budget of its own.";
}
