import { z } from "zod";
import type { AppFacts, StoredApp } from "./app.ts";
import type { Mode, ModelRole } from "./choices.ts";
import type { Attachment, MessageToolCall, MessageToolResult } from "./message.ts";
import type { Standing } from "./budget.ts";
import type { Props } from "./props.ts";
import type { Change, Origin } from "./version.ts";
import type { Context, FailureCode, Todo, UsageTotal } from "./turn.ts";

/** A message as it was said, before it has a place in the conversation. */
export interface Said {
  id: string;
  role: "user" | "assistant";
  content: string;
  attachments?: Attachment[];
}

/** Who said it, and from where: what the request itself told, never a credential. */
export interface Sender {
  user: string;
  context: Record<string, string>;
}

/**
 * What a model was used on a day before the history was cleared. `day` is missing in what was cleared before usage was
 * kept by day. Where the price of some calls is not known, `priced` is what the others came to.
 */
export interface ClearedUsage extends UsageTotal {
  model: string;
  calls: number;
  ms?: number;
  day?: string;
  priced?: { calls: number; costUsd: number };
}

export type PauseReason = "hitl" | "error" | "exhausted" | "subagent" | "deferred";

export type ToolTrouble =
  | "denied"
  | "unknown_tool"
  | "invalid_input"
  | "threw"
  | "timeout"
  | "canceled"
  | "too_large"
  | "repeated"
  | "outcome_unknown"
  /** Code that cannot be read. */
  | "syntax"
  /** It took more memory, time of the processor or space than it may have. */
  | "limit"
  /** Its sandbox is gone, and what it was doing with it. */
  | "sandbox_lost"
  /** There is nothing here to run it in. */
  | "no_sandbox";

/**
 * Every fact an agent's log may hold, by type. All but those after `subagent.completed` are the vocabulary clients of other
 * systems know; what is in an event is enough to rebuild everything else the agent stores.
 */
export interface EventData {
  "thread.created": { threadId: string };
  "request.accepted": {
    runId: string;
    idempotencyKey: string;
    mode: Mode;
    /** It joined this running turn instead of starting its own. */
    joined?: boolean;
    /** Turns that went first when it was said. */
    position: number;
    from: Sender;
    messages: Said[];
    props?: Props;
  };
  "run.started": { runId: string; model: string; boot: string };
  "run.tick": { runId: string; step: number };
  "run.paused": { runId: string; reason: PauseReason };
  "run.resumed": { runId: string; reason: "recovered" | "reported"; attempt: number; strikes: number; boot: string };
  "run.canceled": { runId: string; reason?: string };
  "agent.started": { runId: string };
  "agent.completed": { runId: string; result: string };
  "agent.error": { runId: string; error: string; code: FailureCode; advice?: string; budget?: Standing };
  "checkpoint.saved": { runId: string; step: number; stateHash: string; size: number };
  "model.started": { runId: string; step: number; messageId: string; model: string; attempt: number };
  "model.delta": { runId: string; delta?: string; reasoning?: string };
  "model.completed": {
    runId: string;
    step: number;
    messageId: string;
    model: string;
    finish: string;
    usage: UsageTotal;
    ms: number;
    toolCalls: (MessageToolCall & { malformed?: string })[];
    replay?: unknown;
    context?: Context;
  };
  "middleware.before_model": { runId: string; step: number; middlewareName: string };
  "middleware.after_model": { runId: string; step: number; middlewareName: string };
  "tool.started": { runId: string; step: number; callId: string; toolName: string; args: unknown; repeatable: boolean };
  "tool.output": { runId: string; callId: string; toolName: string; messageId: string; output: string; result: MessageToolResult; ms: number; action: string };
  "tool.error": { runId: string; callId: string; toolName: string; messageId: string; error: string; trouble: ToolTrouble; ms: number; action: string };
  "hitl.interrupt": { proposedToolCalls: { toolName: string; args: unknown }[] };
  "hitl.resume": { approved: boolean; modifiedToolCalls?: { toolName: string; args: unknown }[] };
  "subagent.spawned": { childThreadId: string };
  "subagent.completed": { childThreadId: string; result?: unknown };
  /** A call to the model did not work; with `retryInMs`, it will be made again. */
  "model.failed": { runId: string; step: number; attempt: number; kind: string; error: string; retryInMs?: number };
  /** A message that joined a running turn has its place now: before this step. */
  "message.taken": { runId: string; messageIds: string[] };
  /** The turn it had joined ended without it: it waits as a turn of its own. */
  "message.requeued": { runId: string; fromRunId: string; messageIds: string[] };
  "todos.written": { todos: Todo[] };
  "title.set": { title: string };
  /** The agent has an app, in place of the one it had. */
  "app.set": AppFacts;
  "app.removed": { by: string };
  /** A version of the workspace: who changed what. What was written is in the workspace, not here. */
  "files.changed": { version: number; origin: Origin; changes: Change[]; more?: number; reverts?: number[]; merges?: string };
  /** Versions that were kept long enough, as the host is set to, or those of a branch that somebody has removed. */
  "files.forgotten": { upTo: number; versions: number; branch?: string; by?: Origin };
  /** The conversation is forgotten; what it cost is not, and an app goes on. */
  "history.cleared": { by: string; usage: ClearedUsage[]; app?: StoredApp };
  /** A call to a model beside the conversation: a summary, a quick check. */
  "model.consulted": { runId: string; step: number; role: ModelRole; model: string; purpose: string; usage: UsageTotal; ms: number };
  /** A tool has begun something whose answer is reported later. */
  "tool.deferred": { runId: string; callId: string; toolName: string; ms: number; action: string };
  /** Code that a tool call runs calls something in its turn. Its answer goes to the code, not to the model. */
  "capability.called": { runId: string; step: number; within: string; callId: string; toolName: string; args: unknown };
  "capability.answered": { runId: string; within: string; callId: string; toolName: string; ms: number; action: string; summary?: string; error?: string; trouble?: ToolTrouble };
  /** A hook failed or took too long. What it had changed is undone, and the turn goes on. */
  "middleware.failed": { runId: string; step: number; middlewareName: string; hook: string; error: string };
  /** One value that a middleware keeps in its agent; none is one that it dropped. */
  "middleware.kept": { middlewareName: string; key: string; value?: unknown };
  /**
   * From now on the model is told a shorter conversation: tool results up to `shortened` only by their beginning, and
   * in place of everything up to `upTo` the summary, and what the turn was asked to do if that is among it. The
   * messages themselves stay.
   */
  "context.compacted": { runId: string; step: number; shortened: number; upTo?: number; summary?: string; request?: string; before: number; after: number };
}

export type EventType = keyof EventData;

/** An event that has no number yet. */
export type NewEvent = { [T in EventType]: { type: T; data: EventData[T] } }[EventType];

export type AgentEvent = NewEvent & { seq: number; ts: string; threadId: string };

export const eventSchema = z
  .object({ seq: z.number(), ts: z.string(), type: z.string(), threadId: z.string(), data: z.record(z.string(), z.unknown()) })
  .meta({ id: "Event", description: "A numbered fact in an agent's log." });

export const eventListSchema = z.object({ events: z.array(eventSchema), next: z.number().optional() });

export const eventQuerySchema = z.strictObject({
  after: z.coerce.number().int().min(0).optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
  progress: z.literal("1").optional().meta({ description: "of a stream: also what calls under way show, as `tool_progress` without a number" }),
});

export type EventQuery = z.infer<typeof eventQuerySchema>;
