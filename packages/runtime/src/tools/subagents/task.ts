import { defer, defineTool, delegationOptions, assignmentTextSchema } from "@thinkery/sdk";
import { z } from "zod";

/** Short, because every turn is offered it. The input schema accepts the same. */
const parameters = {
  type: "object",
  properties: {
    description: { type: "string" },
    subagentType: { type: "string" },
    timeoutMs: { type: "number" },
    streaming: { type: "boolean" },
    workspace: { enum: ["shared", "fork"] },
    check: { type: "string" },
  },
  required: ["description"],
};

const inputSchema = z.object({
  description: assignmentTextSchema,
  subagentType: z.string().min(1).max(64).optional(),
  ...delegationOptions,
});

/** Delegates and waits: the report is the result of the call. */
export const task = {
  ...defineTool(
    {
      name: "task",
      description: "Run a sub-agent on a self-contained job; returns its report.",
      inputSchema,
      action: "delegate",
      idempotent: true,
      parallel: true,
      modelOnly: true,
    },
    async ({ subagentType, ...delegation }, { subagents }) => {
      await subagents.delegate({ ...delegation, agentType: subagentType, wait: true });
      return defer();
    },
  ),
  parameters,
};
