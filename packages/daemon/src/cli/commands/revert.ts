import { fail, type MergeResponse } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { createBranchOption, connectToAgent, targetHelp } from "../files/connect-agent.ts";
import { formatChanges, formatConflicts } from "../files/format.ts";
import { parsePositiveInteger } from "../files/parse-positive-integer.ts";
import { formatExamples } from "../help.ts";

interface RevertFlags {
  turn?: string;
  call?: string;
  branch?: string;
  dryRun?: boolean;
}

export function addRevert(program: Command, cli: Cli): void {
  program
    .command("revert")
    .description("revert the changes of a version, a turn or a tool call")
    .argument("<target>", targetHelp)
    .argument("[version]", "version number from `thinkery versions`", parsePositiveInteger)
    .option("--turn <id>", "revert all changes of this turn")
    .option("--call <id>", "revert all changes of this tool call")
    .addOption(createBranchOption())
    .option("--dry-run", "show what would change without changing anything")
    .addHelpText(
      "after",
      formatExamples(["revert alice 12", ""], ["revert alice --turn 5fa3c1d0 --dry-run", "preview the changes"]),
    )
    .action(async (text: string, version: number | undefined, { turn, call, branch, dryRun }: RevertFlags) => {
      const selectors = Object.entries({ version, turn, toolCall: call }).filter(([, value]) => value !== undefined);
      if (selectors.length !== 1)
        throw fail("bad_request", "Specify what to revert: a version, --turn <id> or --call <id>.");
      const { agent } = await connectToAgent(cli, text);
      const merged = await agent.revert({
        ...Object.fromEntries(selectors),
        ...(branch === undefined ? {} : { branch }),
        ...(dryRun ? { dryRun } : {}),
      });
      cli.output.reply(merged, () =>
        describeMerge(merged, dryRun ?? false, "Reverted", "Nothing to revert: those changes are no longer present."),
      );
    });
}

/** Describes the result of a revert or a merge. */
export function describeMerge(
  { version, changes, overlaps }: MergeResponse,
  dryRun: boolean,
  done: string,
  nothing: string,
): string {
  const head = version
    ? `${done} as version ${version.id}: ${formatChanges(version.changes, version.more)}.`
    : changes.length > 0 && dryRun
      ? `Would change ${formatChanges(changes)}.`
      : overlaps.length > 0
        ? dryRun
          ? "Would change nothing."
          : "Nothing changed."
        : nothing;
  return [head, ...formatConflicts(overlaps)].join("\n");
}
