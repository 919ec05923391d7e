import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connectToAgent, targetHelp } from "../files/connect-agent.ts";
import { formatOrigin } from "../files/format.ts";
import { parsePositiveInteger } from "../files/parse-positive-integer.ts";
import { formatExamples } from "../help.ts";
import { describeMerge } from "./revert.ts";

export function addBranch(program: Command, cli: Cli): void {
  const group = program
    .command("branch")
    .description("list, create, merge and delete branches of an agent's files")
    .addHelpText(
      "after",
      formatExamples(
        ["branch new alice try-it", ""],
        ["files put alice notes.md --branch try-it", ""],
        ["branch merge alice try-it", ""],
      ),
    );

  group
    .command("ls")
    .description("list the branches of an agent's files")
    .argument("<target>", targetHelp)
    .addHelpText("after", formatExamples(["branch ls alice", ""]))
    .action(async (text: string) => {
      const { agent, target } = await connectToAgent(cli, text);
      const branches = await agent.branches();
      cli.output.reply({ branches }, () => {
        if (branches.length === 0)
          return `${target.agent} has no branches besides main. Create one with \`thinkery branch new\`.`;
        const rows = branches.map(({ id, from, at, createdAt, by, changed, mergedAt }) => [
          id,
          `${from}, version ${at}`,
          createdAt,
          formatOrigin(by),
          String(changed),
          mergedAt ?? "-",
        ]);
        return cli.output.formatTable(["NAME", "FROM", "CREATED", "BY", "UNMERGED", "MERGED"], rows);
      });
    });

  group
    .command("new")
    .description("create a branch")
    .argument("<target>", targetHelp)
    .argument("[name]", "branch name (default: generated)")
    .option("--from <branch>", "base branch (default: main)")
    .addOption(
      new Option("--at <version>", "start from this version (default: the latest)").argParser(parsePositiveInteger),
    )
    .addHelpText("after", formatExamples(["branch new alice try-it", ""], ["branch new alice before --at 12", ""]))
    .action(async (text: string, name: string | undefined, { from, at }: { from?: string; at?: number }) => {
      const { agent } = await connectToAgent(cli, text);
      const branch = await agent.createBranch({
        ...(from === undefined ? {} : { from }),
        ...(at === undefined ? {} : { version: at }),
        ...(name === undefined ? {} : { name }),
      });
      cli.output.reply(branch, () => `Created branch ${branch.id} from ${branch.from} at version ${branch.at}.`);
    });

  group
    .command("rm")
    .description("delete a branch and its unmerged changes")
    .argument("<target>", targetHelp)
    .argument("<name>", "branch name")
    .option("-y, --yes", "skip confirmation")
    .addHelpText("after", formatExamples(["branch rm alice try-it --yes", ""]))
    .action(async (text: string, name: string, { yes }: { yes?: boolean }) => {
      const { agent, target } = await connectToAgent(cli, text);
      if (!yes) await confirm(cli, `Delete branch ${name} of ${target.agent}'s files?`);
      await agent.deleteBranch(name);
      cli.output.reply({ deleted: name }, () => `Deleted branch ${name}.`);
    });

  group
    .command("merge")
    .description("merge a branch into the one it was created from")
    .argument("<target>", targetHelp)
    .argument("<name>", "branch name")
    .option("--into <branch>", "merge into this branch instead")
    .option("--check <command>", "merge only if this command succeeds on the merged files")
    .option("--dry-run", "show what would change without changing anything")
    .addHelpText(
      "after",
      formatExamples(
        ["branch merge alice try-it", ""],
        ["branch merge alice try-it --dry-run", ""],
        ['branch merge alice try-it --check "npm test"', "in the agent's sandbox"],
      ),
    )
    .action(async (text: string, name: string, flags: { into?: string; check?: string; dryRun?: boolean }) => {
      const { agent } = await connectToAgent(cli, text);
      if (flags.check !== undefined) cli.output.writeNote(`Checking the merged files: ${flags.check}`);
      const merged = await agent.mergeBranch(name, flags);
      const nothing = `Already up to date: ${name} has no unmerged changes.`;
      cli.output.reply(merged, () => {
        const passed = merged.check ? ["The check succeeded."] : [];
        return [...passed, describeMerge(merged, flags.dryRun ?? false, `Merged ${name}`, nothing)].join("\n");
      });
    });
}
