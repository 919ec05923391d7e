import { fail, type MergeResponse } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { createBranchOption, connectToAgent, targetHelp } from "../files/connect-agent.ts";
import { formatChanges, formatOverlaps } from "../files/format.ts";
import { createIntegerParser } from "../files/integer-parser.ts";
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
    .description("take back what a version, a turn or a tool call changed")
    .argument("<target>", targetHelp)
    .argument("[version]", "as `versions` shows it", createIntegerParser("a version"))
    .option("--turn <id>", "all that this turn changed")
    .option("--call <id>", "all that this tool call changed")
    .addOption(createBranchOption())
    .option("--dry-run", "only say what would come of it")
    .addHelpText(
      "after",
      formatExamples(["revert alice 12", ""], ["revert alice --turn 5fa3c1d0 --dry-run", "see what it would do"]),
    )
    .action(async (text: string, version: number | undefined, { turn, call, branch, dryRun }: RevertFlags) => {
      const given = { version, turn, toolCall: call };
      const named = Object.entries(given).filter(([, value]) => value !== undefined);
      if (named.length !== 1)
        throw fail("bad_request", "Say what to take back: a version, --turn <id> or --call <id>.");
      const { agent } = await connectToAgent(cli, text);
      const merged = await agent.revert({
        ...Object.fromEntries(named),
        ...(branch === undefined ? {} : { branch }),
        ...(dryRun ? { dryRun } : {}),
      });
      cli.output.reply(merged, () =>
        describeMerge(merged, dryRun ?? false, "Reverted", "There is nothing to take back: nothing of it is left."),
      );
    });
}

/** What came of a revert or a merge, for people. */
export function describeMerge(
  { version, changes, overlaps }: MergeResponse,
  dryRun: boolean,
  done: string,
  nothing: string,
): string {
  const head = version
    ? `${done}, as version ${version.id}: ${formatChanges(version.changes, version.more)}.`
    : changes.length > 0 && dryRun
      ? `It would change ${formatChanges(changes)}.`
      : overlaps.length > 0
        ? dryRun
          ? "It would change nothing."
          : "Nothing was changed."
        : nothing;
  return [head, ...formatOverlaps(overlaps)].join("\n");
}
