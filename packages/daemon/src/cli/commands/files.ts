import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { addMove, addRemove } from "../files/change.ts";
import { addGet, addZip } from "../files/get.ts";
import { addList } from "../files/list.ts";
import { addPut, addUnzip } from "../files/put.ts";
import { addSync } from "../files/sync.ts";
import { formatExamples } from "../help.ts";

export function addFiles(program: Command, cli: Cli): void {
  const group = program
    .command("files")
    .description("list, read, write and sync an agent's files")
    .addHelpText(
      "after",
      formatExamples(
        ["files ls alice", ""],
        ["files get alice notes.md", ""],
        ["files put alice notes.md", ""],
        ["files zip alice", ""],
      ),
    );
  for (const add of [addList, addGet, addPut, addRemove, addMove, addZip, addUnzip, addSync]) add(group, cli);
}
