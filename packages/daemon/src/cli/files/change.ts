import { parseFilePath } from "@thinkery/sdk";
import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { formatExamples } from "../help.ts";
import { createBranchOption, connectToAgent, targetHelp } from "./connect-agent.ts";

interface RemoveFlags {
  branch?: string;
  recursive?: boolean;
}

export function addRemove(group: Command, cli: Cli): void {
  group
    .command("rm")
    .description("delete a file; `thinkery revert` brings it back")
    .argument("<target>", targetHelp)
    .argument("<path>", "where in the workspace")
    .option("-r, --recursive", "a folder with all that is in it")
    .addOption(createBranchOption())
    .addHelpText("after", formatExamples(["files rm alice old.txt", ""], ["files rm -r alice dist", ""]))
    .action(async (text: string, given: string, { branch, recursive }: RemoveFlags) => {
      const path = toFolderPath(given);
      const { agent } = await connectToAgent(cli, text);
      await agent.deleteFile(path, {
        ...(branch === undefined ? {} : { branch }),
        ...(recursive ? { recursive } : {}),
      });
      cli.output.reply({ deleted: path }, () => `Deleted ${path}.`);
    });
}

export function addMove(group: Command, cli: Cli): void {
  group
    .command("mv")
    .description("move or rename a file or a folder")
    .argument("<target>", targetHelp)
    .argument("<from>", "where it is")
    .argument("<to>", "where it should be; a folder if it ends with a slash")
    .addOption(createBranchOption())
    .addHelpText(
      "after",
      formatExamples(["files mv alice draft.md docs/final.md", ""], ["files mv alice notes.md docs/", ""]),
    )
    .action(async (text: string, from: string, to: string, { branch }: { branch?: string }) => {
      const move = toFolderPath(from);
      const edit = { move, to: parseFilePath(to.endsWith("/") ? to + move.slice(move.lastIndexOf("/") + 1) : to) };
      const { agent } = await connectToAgent(cli, text);
      const { version } = await agent.editFiles([edit], branch === undefined ? {} : { branch });
      cli.output.reply({ ...edit, version: version?.id }, () => `Moved ${edit.move} to ${edit.to}.`);
    });
}

/** A folder may be written with a slash at its end. */
const toFolderPath = (path: string) => parseFilePath(path.replace(/(?<=.)\/+$/, ""));
