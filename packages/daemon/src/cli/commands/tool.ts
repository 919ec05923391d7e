import type { Command } from "commander";
import type { Cli } from "../cli.ts";
import { formatExamples } from "../help.ts";
import { addAdd, addImport, addMock } from "../tool/add.ts";
import { addList, addRemove } from "../tool/list.ts";

export function addTool(program: Command, cli: Cli): void {
  const group = program
    .command("tool")
    .description("list agents' tools, and give them more")
    .addHelpText(
      "after",
      formatExamples(
        ["tool ls alice", "all tools that it has"],
        ["tool add weather.ts -a @review", ""],
        [`tool mock webSearch '{"results": []}' --agent alice`, ""],
      ),
    );
  for (const add of [addList, addAdd, addImport, addMock, addRemove]) add(group, cli);
}
