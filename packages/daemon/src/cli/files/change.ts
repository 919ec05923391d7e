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
    .description("delete a file; undo with `thinkery revert`")
    .argument("<target>", targetHelp)
    .argument("<path>", "path in the workspace")
    .option("-r, --recursive", "delete a folder and its contents")
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
    .description("move or rename a file or folder")
    .argument("<target>", targetHelp)
    .argument("<from>", "current path")
    .argument("<to>", "new path; with a trailing slash, the target folder")
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

/** Accepts a trailing slash. */
const toFolderPath = (path: string) => parseFilePath(path.replace(/(?<=.)\/+$/, ""));
