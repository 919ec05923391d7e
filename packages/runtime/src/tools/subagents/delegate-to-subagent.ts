import { assignmentTextSchema, defineTool, delegationOptions } from "@thinkery/sdk";
import { z } from "zod";

/** Delegates a task and goes on: the report comes with a later step. */
export const delegateToSubagent = defineTool(
  {
    name: "delegateToSubagent",
    description:
      "Start a sub-agent on a task and go on working. You are told when it has finished; waitForSubagents waits for it.",
    inputSchema: z.object({
      taskId: z.string().min(1).max(64).describe("A task of yours, from createSubtask."),
      title: z.string().min(1).max(500).optional(),
      description: assignmentTextSchema.optional().describe("All that it gets to know, next to context."),
      context: z.string().max(100_000).optional(),
      subagentType: z.string().min(1).max(64).optional(),
      ...delegationOptions,
    }),
    action: "delegate",
    idempotent: true,
    parallel: true,
    modelOnly: true,
    onDemand: "tasks",
  },
  async ({ subagentType, ...delegation }, { subagents }) => {
    const { taskId, facetName, status } = await subagents.delegate({
      ...delegation,
      agentType: subagentType,
      wait: false,
    });
    return JSON.stringify({ taskId, facetName, status });
  },
);
