import type { Command } from "commander";
import { addList, addNew, addRemove } from "../channel/manage.ts";
import { addRead } from "../channel/read.ts";
import { addSend } from "../channel/send.ts";
import type { Cli } from "../cli.ts";
import { formatExamples } from "../help.ts";

export function addChannel(program: Command, cli: Cli): void {
  const group = program
    .command("channel")
    .description("read and write what the members of an agency tell each other")
    .addHelpText(
      "after",
      formatExamples(
        ["channel ls @review", ""],
        ["channel read '#general@review' -f", "quoted: shells take # for a comment"],
        ['channel send general@review "@alice, are you done?" --wait', ""],
      ),
    );
  for (const add of [addList, addRead, addSend, addNew, addRemove]) add(group, cli);
}
