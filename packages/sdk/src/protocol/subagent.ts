import { z } from "zod";
import { personWaits } from "./choices.ts";
import { blueprintNameSchema } from "./name-schemas.ts";
import { usageSchema } from "./turn-usage.ts";
import { checkCommandSchema, forkMergeSchema } from "./version.ts";

export const subagentStatuses = ["running", "waiting", "complete", "failed", "cancelled", "interrupted"] as const;

export type SubagentStatus = (typeof subagentStatuses)[number];

/** How a sub-agent's work ended. */
export const reportStatuses = ["complete", "failed", "cancelled", "interrupted"] as const;

export type ReportStatus = (typeof reportStatuses)[number];

export const workspaceModes = ["shared", "fork"] as const;

export type WorkspaceMode = (typeof workspaceModes)[number];

/** The model calls of a sub-agent and of everyone below it. */
export const subagentUsageSchema = usageSchema
  .pick({ inputTokens: true, outputTokens: true, costUsd: true })
  .extend({ calls: z.number() });

export type SubagentUsage = z.infer<typeof subagentUsageSchema>;

/** What a sub-agent and everyone below it spent on one day. */
export const daySpendingSchema = z.object({
  day: z.string(),
  calls: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costUsd: z.number(),
  unknown: z.number().describe("Calls whose price is unknown; the cost does not include them."),
});

export type DaySpending = z.infer<typeof daySpendingSchema>;

export const subagentSchema = z
  .object({
    taskId: z.string(),
    facetName: z.string().meta({ description: "Its name below its parent, as in `/agent/:agent/sub/:child`." }),
    childThreadId: z.string().meta({ description: "Its address, as `agency~agent/sub-agent`." }),
    agentType: z.string(),
    title: z.string(),
    status: z.enum(subagentStatuses).meta({
      description: "`waiting`: for its turn to start, for the result of a call, or for a person.",
    }),
    waitingFor: z.enum(personWaits).optional().meta({
      description: "What a person has to give before it goes on. It may be somebody below it who asks.",
    }),
    wait: z.boolean().meta({ description: "Whether a tool call of its parent waits for its report." }),
    workspace: z.enum(workspaceModes),
    branch: z.string().optional().meta({ description: "The branch of a fork, while it exists." }),
    merge: forkMergeSchema.optional(),
    runId: z.string().optional().meta({ description: "The turn that delegated to it." }),
    callId: z.string().optional(),
    messageId: z.string().optional(),
    createdAt: z.number(),
    startedAt: z.number().optional(),
    completedAt: z.number().optional(),
    result: z.string().optional(),
    error: z.string().optional(),
    usage: subagentUsageSchema.optional(),
    steps: z.number().optional(),
    step: z.number().optional().meta({ description: "The step of its turn that is running." }),
    activity: z.string().optional().meta({ description: "What it did last." }),
    deleted: z.literal(true).optional().meta({ description: "Only its report is left." }),
  })
  .meta({ id: "Subagent", description: "An agent that works on one task of another agent." });

export type Subagent = z.infer<typeof subagentSchema>;

export const subagentSummarySchema = z
  .object({
    name: z.string().meta({ description: "Its name below its parent, as in `/agent/:agent/sub/:child`." }),
    blueprint: z.string(),
    title: z.string(),
    status: z.enum(subagentStatuses),
    waitingFor: z.enum(personWaits).optional(),
    createdAt: z.string(),
    get subagents() {
      return z.array(subagentSummarySchema).optional();
    },
  })
  .meta({ id: "SubagentSummary", description: "A sub-agent in a list of agents, with its own sub-agents." });

export type SubagentSummary = z.infer<typeof subagentSummarySchema>;

export const subagentListSchema = z.object({ subagents: z.array(subagentSchema) });

// Fits into a row of the log even if every character is escaped.
const maxAssignmentChars = 100_000;

export const assignmentTextSchema = z.string().min(1).max(maxAssignmentChars);

/** Options of every delegation. */
export const delegationOptions = {
  streaming: z
    .boolean()
    .optional()
    .meta({ description: "Whether clients of its parent see live what it writes and which tools it calls." }),
  timeoutMs: z.int().min(1000).max(86_400_000).optional().meta({ description: "Time it may work, in ms." }),
  workspace: z
    .enum(workspaceModes)
    .optional()
    .meta({ description: "`shared`: it works on its parent's files. `fork`: on a branch of them." }),
  check: checkCommandSchema.optional().meta({
    description: "A command that must succeed on the merged files, or the fork is not merged.",
  }),
};

export const spawnSchema = z
  .strictObject({
    taskId: z.string().min(1).max(64),
    title: z.string().min(1).max(500).optional().meta({ description: "Defaults to the task's." }),
    description: assignmentTextSchema.optional().meta({ description: "Defaults to the task's." }),
    context: z.string().max(maxAssignmentChars).optional(),
    agentType: blueprintNameSchema.optional().meta({
      description: "Its blueprint. Defaults to the one named like the task's type, or else to its parent's.",
    }),
    ...delegationOptions,
  })
  .meta({ id: "Spawn" });

export type Spawn = z.infer<typeof spawnSchema>;

export const spawnResponseSchema = z.object({
  facetName: z.string(),
  taskId: z.string(),
  status: z.enum(subagentStatuses),
});

export type SpawnResponse = z.infer<typeof spawnResponseSchema>;
