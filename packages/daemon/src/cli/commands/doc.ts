import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { addEdit } from "../doc/edit.ts";
import { addDiff, addMove, addRemove, addRevert, addVersions } from "../doc/history.ts";
import { addList, addRead } from "../doc/read.ts";
import { addAppend, addWrite } from "../doc/write.ts";
import { formatExamples } from "../help.ts";

export function addDoc(program: Command, cli: Cli): void {
  const group = program
    .command("doc")
    .description("read and write the documents that the members of an agency share")
    .addHelpText(
      "after",
      formatExamples(
        ["doc ls -a @review", ""],
        ["doc read plan.md -a @review", ""],
        ["doc edit plan.md -a @review", ""],
        ['doc append log.md "Deployed."', ""],
      ),
    );
  const commands = [
    addList,
    addRead,
    addWrite,
    addAppend,
    addEdit,
    addMove,
    addRemove,
    addVersions,
    addDiff,
    addRevert,
  ];
  for (const add of commands) add(group, cli);
}
