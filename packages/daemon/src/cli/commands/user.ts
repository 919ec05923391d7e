import { fail, type UserLimits, type UserLimitsUpdate } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connect } from "../connect.ts";
import { formatSize } from "../files/format.ts";
import { parsePositiveInteger } from "../files/parse-positive-integer.ts";
import { formatExamples } from "../help.ts";

interface NewUserFlags {
  agents?: number;
  turns?: number;
  diskMb?: number;
  requests?: number;
  cost?: number;
  tokens?: number;
  daily?: boolean;
}

/** False removes a limit. Commander sets a flag that can be negated to true. */
interface UserFlags {
  agents?: number | boolean;
  turns?: number | boolean;
  diskMb?: number | boolean;
  requests?: number | boolean;
  budget?: boolean;
  cost?: number;
  tokens?: number;
  daily?: boolean;
}

export function addUser(program: Command, cli: Cli): void {
  const group = program.command("user").description("list, add, edit and remove users of this host");

  group
    .command("ls")
    .description("list users and their limits")
    .addHelpText("after", formatExamples(["user ls", ""]))
    .action(async () => {
      const { client } = await connect(cli);
      const { users } = await client.call("listUsers", { query: { limit: 500 } });
      const rows = users.map(({ name, agencies, agents, diskBytes, limits, createdAt }) => [
        name,
        String(agencies),
        formatUse(agents, limits.agents),
        limits.concurrentTurns === undefined ? "-" : String(limits.concurrentTurns),
        `${formatSize(diskBytes)}${limits.diskMb === undefined ? "" : ` of ${limits.diskMb} MB`}`,
        formatBudget(limits.budget),
        createdAt,
      ]);
      const titles = ["NAME", "AGENCIES", "AGENTS", "TURNS", "DISK", "BUDGET", "ADDED"];
      cli.output.reply({ users }, () => cli.output.formatTable(titles, rows));
    });

  group
    .command("add")
    .description("add a user with an agency of their own")
    .argument("<name>", "name of the user")
    .option("--agents <number>", "maximum number of agents", parsePositiveInteger)
    .option("--turns <number>", "maximum number of turns at the same time", parsePositiveInteger)
    .option("--disk-mb <number>", "maximum disk space of all agents together, in megabytes", parsePositiveInteger)
    .option("--requests <number>", "maximum requests of each token per minute", parsePositiveInteger)
    .option("--cost <dollars>", "cost limit in US dollars", parseCost)
    .option("--tokens <number>", "limit of input and output tokens", parsePositiveInteger)
    .option("--daily", "make --cost and --tokens daily limits")
    .addHelpText(
      "after",
      formatExamples(
        ["user add bob --agents 10 --turns 2 --disk-mb 500", ""],
        ["token new laptop --user bob --scope admin", ""],
      ),
    )
    .action(async (name: string, flags: NewUserFlags) => {
      const { client } = await connect(cli);
      const user = await client.call("addUser", { body: { name, limits: toLimits(flags) } });
      cli.output.reply(
        user,
        () => `Added ${name}. Create a token with \`thinkery token new <label> --user ${name} --scope chat\`.`,
      );
    });

  group
    .command("edit")
    .description("change the limits of a user")
    .argument("<name>", "name of the user")
    .option("--agents <number>", "maximum number of agents", parsePositiveInteger)
    .option("--no-agents", "remove this limit")
    .option("--turns <number>", "maximum number of turns at the same time", parsePositiveInteger)
    .option("--no-turns", "remove this limit")
    .option("--disk-mb <number>", "maximum disk space of all agents together, in megabytes", parsePositiveInteger)
    .option("--no-disk-mb", "remove this limit")
    .option("--requests <number>", "maximum requests of each token per minute", parsePositiveInteger)
    .option("--no-requests", "remove this limit")
    .option("--cost <dollars>", "cost limit in US dollars; replaces the whole budget", parseCost)
    .option("--tokens <number>", "limit of input and output tokens; replaces the whole budget", parsePositiveInteger)
    .option("--daily", "make --cost and --tokens daily limits")
    .option("--no-budget", "remove the limits of cost and tokens")
    .addHelpText(
      "after",
      formatExamples(["user edit bob --agents 20", ""], ["user edit bob --no-turns --cost 5 --daily", ""]),
    )
    .action(async (name: string, flags: UserFlags) => {
      const limits = toLimitsUpdate(flags);
      const { client } = await connect(cli);
      const user = await client.call("updateUser", { params: { user: name }, body: { limits } });
      cli.output.reply(user, () => `Changed ${name}: ${formatLimits(user.limits)}.`);
    });

  group
    .command("rm")
    .description("remove a user with all their agencies and tokens")
    .argument("<name>", "name of the user")
    .option("-y, --yes", "skip confirmation")
    .addHelpText("after", formatExamples(["user rm bob", ""]))
    .action(async (name: string, { yes }: { yes?: boolean }) => {
      const { client } = await connect(cli);
      if (!yes) await confirm(cli, `Remove ${name} with all their agencies, agents and tokens?`);
      await client.call("removeUser", { params: { user: name } });
      cli.output.reply({ removed: name }, () => `Removed ${name}.`);
    });
}

function toLimits({ agents, turns, diskMb, requests, cost, tokens, daily }: NewUserFlags): UserLimits {
  const spending = { ...(cost === undefined ? {} : { costUsd: cost }), ...(tokens === undefined ? {} : { tokens }) };
  const hasBudget = Object.keys(spending).length > 0;
  if (daily && !hasBudget) throw fail("bad_request", "--daily requires --cost or --tokens.");
  return {
    ...(agents === undefined ? {} : { agents }),
    ...(turns === undefined ? {} : { concurrentTurns: turns }),
    ...(diskMb === undefined ? {} : { diskMb }),
    ...(requests === undefined ? {} : { requestsPerMinute: requests }),
    ...(hasBudget ? { budget: { ...spending, per: daily ? "day" : "ever" } } : {}),
  };
}

function toLimitsUpdate({ agents, turns, diskMb, requests, budget, cost, tokens, daily }: UserFlags): UserLimitsUpdate {
  const { budget: newBudget } = toLimits({
    ...(cost === undefined ? {} : { cost }),
    ...(tokens === undefined ? {} : { tokens }),
    ...(daily ? { daily } : {}),
  });
  if (newBudget && budget === false) throw fail("bad_request", "Give --no-budget, or --cost and --tokens, not both.");
  const limits: UserLimitsUpdate = {
    ...toChange("agents", agents),
    ...toChange("concurrentTurns", turns),
    ...toChange("diskMb", diskMb),
    ...toChange("requestsPerMinute", requests),
    ...(newBudget ? { budget: newBudget } : budget === false ? { budget: null } : {}),
  };
  if (Object.keys(limits).length === 0)
    throw fail("bad_request", "Nothing to change. See `thinkery user edit --help` for the limits.");
  return limits;
}

function toChange(
  key: Exclude<keyof UserLimitsUpdate, "budget">,
  flag: number | boolean | undefined,
): UserLimitsUpdate {
  if (flag === false) return { [key]: null };
  return typeof flag === "number" ? { [key]: flag } : {};
}

function parseCost(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Infinity)) throw fail("bad_request", `“${text}” is not a number above 0.`);
  return value;
}

const formatUse = (used: number, limit: number | undefined) =>
  limit === undefined ? String(used) : `${used}/${limit}`;

function formatLimits({ agents, concurrentTurns, diskMb, requestsPerMinute, budget }: UserLimits): string {
  const parts = [
    ...(agents === undefined ? [] : [`agents ${agents}`]),
    ...(concurrentTurns === undefined ? [] : [`turns ${concurrentTurns}`]),
    ...(diskMb === undefined ? [] : [`disk ${diskMb} MB`]),
    ...(requestsPerMinute === undefined ? [] : [`requests ${requestsPerMinute} a minute`]),
    ...(budget ? [`budget ${formatBudget(budget)}`] : []),
  ];
  return parts.join(", ") || "no limits";
}

function formatBudget(budget: UserLimits["budget"]): string {
  if (!budget) return "-";
  const { per, costUsd, tokens } = budget;
  const parts = [costUsd === undefined ? [] : `$${costUsd}`, tokens === undefined ? [] : `${tokens} tokens`].flat();
  return `${parts.join(", ")}${per === "day" ? " per day" : ""}`;
}
