import { z } from "zod";
import { personWaits } from "../choices.ts";
import { daySpendingSchema, reportStatuses, subagentUsageSchema, workspaceModes } from "../subagent.ts";
import { forkMergeSchema } from "../version.ts";
import { senderSchema } from "./request.ts";

const child = { childThreadId: z.string(), taskId: z.string() };

/** What a sub-agent and everyone below it have spent. Sums, so that one that was lost or repeated does no harm. */
const spending = () => ({
  days: z.array(daySpendingSchema).optional().describe("All spending of these days, also outside the delegated task."),
  reserved: z
    .object({ steps: z.number(), tokens: z.number(), costUsd: z.number() })
    .optional()
    .describe("Leased to it for calls in progress."),
});

/** How a sub-agent's work ended, as it says itself. */
const reportFields = () => ({
  ...spending(),
  status: z.enum(reportStatuses),
  result: z.string().optional(),
  resultBlob: z.string().optional().describe("The whole result, if it is long."),
  resultBytes: z.number().optional(),
  error: z.string().optional(),
  usage: subagentUsageSchema,
  steps: z.number(),
  ms: z.number(),
});

/** Events about an agent's sub-agents, in its own log, and about the assignment of a sub-agent, in the sub-agent's. */
export const subagentEvents = () => ({
  "subagent.spawned": z
    .object({
      ...child,
      facetName: z.string(),
      token: z.string(),
      runId: z.string().optional(),
      callId: z.string().optional(),
      messageId: z.string().optional(),
      agentType: z.string(),
      title: z.string(),
      message: z.string(),
      from: senderSchema(),
      wait: z.boolean(),
      workspace: z.enum(workspaceModes),
      branch: z.string().optional(),
      check: z.string().optional(),
      streaming: z.boolean().optional(),
      timeoutMs: z.number(),
      queued: z.boolean().optional(),
    })
    .describe("A task was delegated. Recorded before the sub-agent exists."),
  "subagent.started": z.object(child).describe("A sub-agent that was queued starts."),
  "subagent.action": z
    .object({
      ...child,
      agent: z.string().describe("Who acted: the sub-agent, or one below it."),
      number: z.number().describe("The action's number in the sub-agent's log."),
      runId: z.string().optional(),
      messageId: z.string().optional(),
      callId: z.string(),
      toolName: z.string(),
      action: z.string(),
      input: z.string(),
      summary: z.string().optional(),
      error: z.string().optional(),
      step: z.number().optional().describe("The step that the sub-agent was in."),
      usage: subagentUsageSchema
        .optional()
        .describe("What the sub-agent has spent so far on its task, unless `subagent.spent` says so."),
      ms: z.number(),
    })
    .describe("What a tool of a sub-agent did."),
  "subagent.spent": z
    .object({ ...child, ...spending(), usage: subagentUsageSchema.optional() })
    .describe("What a sub-agent has spent so far on its task. Recorded if a budget of an agent above limits it."),
  "subagent.waiting": z
    .object({ ...child, waitingFor: z.enum(personWaits).optional().describe("Left out if it goes on.") })
    .describe("A sub-agent, or everyone who works for it, waits for a person; or it goes on."),
  "subagent.reported": z
    .object({ ...child, ...reportFields() })
    .describe("A sub-agent with a fork has finished. Its branch is merged before that counts as its report."),
  "subagent.completed": z
    .object({
      ...child,
      ...reportFields(),
      merge: forkMergeSchema.optional(),
      unconfirmed: z
        .boolean()
        .optional()
        .describe("It may still have to be stopped, or its branch to be removed: `subagent.closed` follows."),
    })
    .describe("The report of a sub-agent. There is exactly one for each."),
  "subagent.delivered": z
    .object({
      runId: z.string(),
      step: z.number().optional(),
      taskIds: z.array(z.string()),
      messageId: z.string().optional(),
      content: z.string().optional().describe("Becomes a message of the conversation."),
      callId: z.string().optional(),
    })
    .describe("The model gets these reports."),
  "subagent.closed": z
    .object({ ...child, ...spending(), usage: subagentUsageSchema.optional(), merge: forkMergeSchema.optional() })
    .describe("A sub-agent that was cancelled has stopped, and a branch that is no longer needed is removed."),
  "subagent.deleted": z.object({ ...child, ...spending(), usage: subagentUsageSchema.optional() }),
  "assignment.reported": z.object({ runId: z.string() }).describe("The agent that delegated this turn has its report."),
});
