import type { Command } from "commander";
import { addDeploy } from "../agent-package/deploy.ts";
import { addDev } from "../agent-package/dev.ts";
import { addInfo } from "../agent-package/info.ts";
import { addInit } from "../agent-package/init.ts";
import { addList } from "../agent-package/list.ts";
import { addLogs } from "../agent-package/logs.ts";
import { addRemove } from "../agent-package/remove.ts";
import { addRollback } from "../agent-package/rollback.ts";
import type { Cli } from "../cli.ts";
import { formatExamples } from "../help.ts";

/** Agents whose code users write. */
export function addAgent(program: Command, cli: Cli): void {
  const group = program
    .command("agent")
    .description("write agents in TypeScript: create, develop, deploy and roll back their packages")
    .addHelpText(
      "after",
      formatExamples(
        ["agent init hello", "create a package"],
        ["agent dev hello", "deploy it, and again on each save"],
        ["agent logs hello -f", ""],
      ),
    );
  for (const add of [addInit, addDev, addDeploy, addList, addInfo, addLogs, addRollback, addRemove]) add(group, cli);
}
