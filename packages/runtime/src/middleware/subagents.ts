import { defineMiddleware, maxPathLength, parseAddress } from "@thinkery/sdk";
import { checkSubagentStatus } from "../tools/subagents/check-subagent-status.ts";
import { delegateToSubagent } from "../tools/subagents/delegate-to-subagent.ts";
import { task } from "../tools/subagents/task.ts";
import { waitForSubagents } from "../tools/subagents/wait-for-subagents.ts";

/** Registers the tools that delegate work to sub-agents. Which ones there are is in the blueprint's `config.subagents`. */
export const subagents = defineMiddleware({
  name: "subagents",
  tags: ["default", "subagents"],
  onInit(context) {
    const depth = parseAddress(context.agent)?.path.length ?? 1;
    if (depth >= maxPathLength) return;
    for (const tool of [task, delegateToSubagent, checkSubagentStatus, waitForSubagents]) context.registerTool(tool);
  },
});
