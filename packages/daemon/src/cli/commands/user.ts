import { fail, type UserLimits } from "@thinkery/sdk";
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
  cost?: number;
  tokens?: number;
  daily?: boolean;
}

export function addUser(program: Command, cli: Cli): void {
  const group = program.command("user").description("list, add and remove users of this host");

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

function toLimits({ agents, turns, diskMb, cost, tokens, daily }: NewUserFlags): UserLimits {
  const spending = { ...(cost === undefined ? {} : { costUsd: cost }), ...(tokens === undefined ? {} : { tokens }) };
  const hasBudget = Object.keys(spending).length > 0;
  if (daily && !hasBudget) throw fail("bad_request", "--daily requires --cost or --tokens.");
  return {
    ...(agents === undefined ? {} : { agents }),
    ...(turns === undefined ? {} : { concurrentTurns: turns }),
    ...(diskMb === undefined ? {} : { diskMb }),
    ...(hasBudget ? { budget: { ...spending, per: daily ? "day" : "ever" } } : {}),
  };
}

function parseCost(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value < Infinity)) throw fail("bad_request", `“${text}” is not a number above 0.`);
  return value;
}

const formatUse = (used: number, limit: number | undefined) =>
  limit === undefined ? String(used) : `${used}/${limit}`;

function formatBudget(budget: UserLimits["budget"]): string {
  if (!budget) return "-";
  const { per, costUsd, tokens } = budget;
  const parts = [costUsd === undefined ? [] : `$${costUsd}`, tokens === undefined ? [] : `${tokens} tokens`].flat();
  return `${parts.join(", ")}${per === "day" ? " per day" : ""}`;
}
