import { z } from "zod";
import { budgetStatusSchema } from "./budget.ts";
import { modes, personWaits } from "./choices.ts";
import { continuationSchema } from "./continuation.ts";
import { propsSchema } from "./props.ts";
import { taskSchema } from "./task.ts";
import { usageSchema } from "./turn-usage.ts";
import { forkMergeSchema } from "./version.ts";
import { variablesSchema } from "./workflow.ts";

export const runStatuses = ["idle", "registered", "running", "paused", "completed", "canceled", "error"] as const;

export const runSchema = z
  .object({
    runId: z.string(),
    status: z.enum(runStatuses),
    step: z.number(),
    reason: z.string().optional(),
    nextAlarmAt: z.number().nullable().optional(),
  })
  .meta({ id: "Run", description: "The status of an agent's latest turn." });

export type Run = z.infer<typeof runSchema>;

/** Why a turn failed. The set is closed, so clients may switch on it. */
export const failureCodes = [
  "model_auth",
  "model_quota",
  "model_overflow",
  "model_overloaded",
  "model_content",
  "model_network",
  "model_refused",
  "no_model",
  "steps",
  "budget",
  "repeated_call",
  "no_progress",
  "crashed",
  "timeout",
  // The agent is made of code, which failed.
  "code_failed",
  "internal",
] as const;

export type FailureCode = (typeof failureCodes)[number];

export const failureSchema = z.object({
  code: z.enum(failureCodes),
  message: z.string(),
  advice: z.string().optional(),
  budget: budgetStatusSchema.optional().meta({ description: "The limit that was reached, if the code is `budget`." }),
});

export type Failure = z.infer<typeof failureSchema>;

// Fits into a row of the log even if every character is escaped.
const maxTextChars = 400_000;

export const textSchema = z.string().min(1).max(maxTextChars);

const inputMessageSchema = z.strictObject({ role: z.enum(["user", "assistant"]), content: textSchema });

/** An attachment in a request, as base64. The agent stores it as a blob. */
export const newAttachmentSchema = z.strictObject({
  name: z.string().max(255).optional(),
  mediaType: z.string().regex(/^[\w.+-]+\/[\w.+-]+$/),
  data: z.base64(),
});

export type NewAttachment = z.infer<typeof newAttachmentSchema>;

/** A message to an agent, from the dashboard, a program or another agent. */
export const invokeSchema = z
  .strictObject({
    message: textSchema.optional(),
    messages: z.array(inputMessageSchema).min(1).max(200).optional(),
    files: z
      .record(z.string().min(1).max(1024), z.string())
      .optional()
      .meta({ description: "Text files by path, given to the agent with the message." }),
    attachments: z.array(newAttachmentSchema).max(20).optional(),
    idempotencyKey: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: "Requests with the same key start only one turn." }),
    mode: z.enum(modes).default("queue"),
    props: propsSchema.optional().meta({ description: "Props for this turn only." }),
  })
  .refine((body) => (body.message === undefined) !== (body.messages === undefined), {
    error: "give either message or messages",
    path: ["message"],
  })
  .refine((body) => (body.messages ?? []).reduce((sum, { content }) => sum + content.length, 0) <= maxTextChars, {
    error: `longer than ${maxTextChars} characters in total`,
    path: ["messages"],
  })
  .refine((body) => body.messages === undefined || body.messages.at(-1)?.role === "user", {
    error: "the last message must be the user's",
    path: ["messages"],
  })
  .meta({ id: "Invoke" });

export type Invoke = z.infer<typeof invokeSchema>;

export const admissionSchema = z
  .object({
    runId: z.string(),
    messageId: z.string(),
    status: z.enum(runStatuses),
    position: z.number().meta({ description: "Number of turns before it; 0 if it runs." }),
    duplicate: z.boolean().optional().meta({ description: "The key was used before; no new turn was started." }),
  })
  .meta({ id: "Admission" });

export type Admission = z.infer<typeof admissionSchema>;

/** How a turn ended, and its result. */
export const outcomeSchema = z
  .object({
    runId: z.string(),
    agent: z.string(),
    status: z.enum(["completed", "error", "canceled"]),
    content: z.string(),
    toolCalls: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        input: z.unknown(),
        output: z.string().optional(),
        failed: z.boolean().optional(),
      }),
    ),
    usage: usageSchema,
    failure: failureSchema.optional(),
  })
  .meta({ id: "Outcome" });

export type Outcome = z.infer<typeof outcomeSchema>;

export const todoSchema = z.object({
  content: z.string().min(1).max(2000),
  status: z.enum(["pending", "in_progress", "completed"]),
});

export type Todo = z.infer<typeof todoSchema>;

/** How full the model's context window is, in tokens as last counted by its provider. */
export const contextSchema = z
  .object({ used: z.number(), limit: z.number(), model: z.string() })
  .meta({ id: "Context", description: "How much of the model's context window the conversation uses." });

export type Context = z.infer<typeof contextSchema>;

/** The state that the Agents SDK syncs to every client, and that `sync` frames contain. */
export const agentStatusSchema = z.object({
  status: z.enum(["idle", "thinking", "executing", "waiting", "stopped"]),
  run: runSchema,
  queued: z.number().meta({ description: "Number of queued turns." }),
  title: z.string().optional(),
  context: contextSchema.optional(),
  activeFile: z.string().optional(),
  pendingContinuation: continuationSchema.optional(),
});

export type AgentStatus = z.infer<typeof agentStatusSchema>;

/** The state of an agent after it was stopped or started. */
export const lifecycleResponseSchema = agentStatusSchema.pick({ status: true, queued: true });

export type LifecycleResponse = z.infer<typeof lifecycleResponseSchema>;

const chatMessageSchema = z.object({
  role: z.enum(["system", "user", "assistant", "tool"]),
  content: z.string(),
  toolCalls: z.array(z.object({ id: z.string(), name: z.string(), args: z.unknown() })).optional(),
  toolCallId: z.string().optional(),
});

export type ChatMessage = z.infer<typeof chatMessageSchema>;

const subagentStateSchema = z.object({
  childThreadId: z.string(),
  token: z.string(),
  status: z.enum(["waiting", "completed", "canceled"]),
  outcome: z.string().meta({ description: "The status as `/subagents` lists it." }),
  waitingFor: z.enum(personWaits).optional(),
  createdAt: z.number(),
  completedAt: z.number().optional(),
  report: z.string().optional(),
  toolCallId: z.string().optional(),
  merge: forkMergeSchema.optional(),
});

export const agentStateSchema = z
  .looseObject({
    messages: z.array(chatMessageSchema),
    tools: z.array(
      z.object({ name: z.string(), description: z.string(), parameters: z.record(z.string(), z.unknown()) }),
    ),
    thread: z.looseObject({ id: z.string(), createdAt: z.string(), agentType: z.string(), agencyId: z.string() }),
    threadId: z.string(),
    agentType: z.string(),
    status: agentStatusSchema.shape.status,
    model: z.string().optional(),
    todos: z.array(todoSchema),
    tasks: z.array(taskSchema).optional().meta({ description: "The trees with open tasks, if there are any." }),
    title: z.string().optional(),
    context: contextSchema.optional(),
    activeFile: agentStatusSchema.shape.activeFile,
    pendingContinuation: agentStatusSchema.shape.pendingContinuation,
    subagents: z.array(subagentStateSchema).optional(),
    parent: z
      .object({ threadId: z.string(), token: z.string() })
      .optional()
      .meta({ description: "The agent that a sub-agent works for." }),
  })
  .meta({ id: "AgentState" });

export type AgentState = z.infer<typeof agentStateSchema>;

export const stateResponseSchema = z.object({ state: agentStateSchema, run: runSchema });

/** The result of a deferred tool call. */
export const toolCallResolutionSchema = z
  .strictObject({
    callId: z.string().min(1).max(200),
    output: z.unknown().optional().meta({ description: "The result: text or any JSON value." }),
    error: z.string().min(1).max(10_000).optional().meta({ description: "Why there is no output." }),
  })
  .refine((report) => (report.output === undefined) !== (report.error === undefined), {
    error: "give either output or error",
    path: ["output"],
  })
  .meta({ id: "ToolReport" });

export type ToolCallResolution = z.infer<typeof toolCallResolutionSchema>;

export const cancelSchema = z.strictObject({ runId: z.string().max(200).optional() });

export const cancelResponseSchema = z.object({ runId: z.string().optional(), status: z.enum(runStatuses) });

export type CancelResponse = z.infer<typeof cancelResponseSchema>;

const agentReference = z
  .string()
  .min(1)
  .max(200)
  .meta({ description: "As `alice`, `alice/sub-agent` or `alice@review`." });

const inlineAgentSchema = z.looseObject({
  backend: z.string().optional(),
  model: z.string().max(200).optional(),
  system_prompt: z.string().max(100_000).optional(),
  tools: z.array(z.string().min(1).max(64)).max(64).optional(),
  max_steps: z.number().int().positive().optional(),
  max_tokens: z.number().int().positive().optional(),
});

/** The body of `/run` and `/serve`: an agent, a workflow, or inline agents. */
export const jobSchema = z
  .strictObject({
    agent: agentReference.optional(),
    workflow: z
      .union([
        z.string().min(1).max(200),
        z.looseObject({ name: z.string().optional(), agents: z.record(z.string(), inlineAgentSchema) }),
      ])
      .optional(),
    agents: z.record(z.string(), inlineAgentSchema).optional(),
    tag: z.string().max(64).optional(),
    vars: variablesSchema.optional().meta({ description: "Of a workflow." }),
    message: textSchema.optional().meta({ description: "Required but for a workflow, which has a kickoff." }),
    idempotencyKey: z.string().min(1).max(200).optional(),
    mode: z.enum(modes).default("queue"),
    props: propsSchema.optional().meta({ description: "Props for this turn of each agent only." }),
  })
  .refine((job) => [job.agent, job.workflow, job.agents].filter((given) => given !== undefined).length === 1, {
    error: "give one of agent, workflow and agents",
    path: ["agent"],
  })
  .refine((job) => job.message !== undefined || job.workflow !== undefined, {
    error: "Invalid input: expected string, received undefined",
    path: ["message"],
  })
  .refine((job) => job.workflow === undefined || job.props === undefined, {
    error: "props are for agents; a workflow has vars",
    path: ["props"],
  })
  .meta({ id: "Job" });

export type Job = z.infer<typeof jobSchema>;

export const serveResponseSchema = z
  .object({
    content: z.string(),
    toolCalls: outcomeSchema.shape.toolCalls,
    usage: usageSchema,
    outcomes: z.array(outcomeSchema).meta({ description: "One for each agent; of a workflow, its last turn." }),
    finishReason: z.string().optional(),
  })
  .meta({ id: "Served" });

export type ServeResponse = z.infer<typeof serveResponseSchema>;
