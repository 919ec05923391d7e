import { type Command, Option } from "commander";
import type { Cli } from "../cli.ts";
import { confirm } from "../confirm.ts";
import { connectToAgent, targetHelp } from "../files/connect-agent.ts";
import { formatOrigin } from "../files/format.ts";
import { createIntegerParser } from "../files/integer-parser.ts";
import { formatExamples } from "../help.ts";
import { describeMerge } from "./revert.ts";

export function addBranch(program: Command, cli: Cli): void {
  const group = program
    .command("branch")
    .description("keep another line of an agent's files beside the main one")
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
          return `${target.agent} has no branches beside main; \`thinkery branch new\` makes one.`;
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
    .description("make a branch")
    .argument("<target>", targetHelp)
    .argument("[name]", "its name (default: one is made up)")
    .option("--from <branch>", "of another branch than main")
    .addOption(
      new Option("--at <version>", "of the files as they were at this version").argParser(
        createIntegerParser("a version"),
      ),
    )
    .addHelpText("after", formatExamples(["branch new alice try-it", ""], ["branch new alice before --at 12", ""]))
    .action(async (text: string, name: string | undefined, { from, at }: { from?: string; at?: number }) => {
      const { agent } = await connectToAgent(cli, text);
      const branch = await agent.createBranch({
        ...(from === undefined ? {} : { from }),
        ...(at === undefined ? {} : { version: at }),
        ...(name === undefined ? {} : { name }),
      });
      cli.output.reply(branch, () => `Made the branch ${branch.id} from ${branch.from}, version ${branch.at}.`);
    });

  group
    .command("rm")
    .description("delete a branch, with what was changed there only")
    .argument("<target>", targetHelp)
    .argument("<name>", "its name")
    .option("-y, --yes", "do not ask")
    .addHelpText("after", formatExamples(["branch rm alice try-it --yes", ""]))
    .action(async (text: string, name: string, { yes }: { yes?: boolean }) => {
      const { agent, target } = await connectToAgent(cli, text);
      if (!yes) await confirm(cli, `Delete the branch ${name} of ${target.agent}'s files?`);
      await agent.deleteBranch(name);
      cli.output.reply({ deleted: name }, () => `Deleted the branch ${name}.`);
    });

  group
    .command("merge")
    .description("bring what was changed on a branch to the one it came from")
    .argument("<target>", targetHelp)
    .argument("<name>", "its name")
    .option("--into <branch>", "to this branch")
    .option("--dry-run", "only say what would come of it")
    .addHelpText(
      "after",
      formatExamples(["branch merge alice try-it", ""], ["branch merge alice try-it --dry-run", ""]),
    )
    .action(async (text: string, name: string, flags: { into?: string; dryRun?: boolean }) => {
      const { agent } = await connectToAgent(cli, text);
      const merged = await agent.mergeBranch(name, flags);
      cli.output.reply(merged, () =>
        describeMerge(
          merged,
          flags.dryRun ?? false,
          `Merged ${name}`,
          `There is nothing on ${name} that is not there already.`,
        ),
      );
    });
}
