import { z } from "zod";
import type { Mode } from "./choices.ts";
import type { Attachment, MessageToolCall, MessageToolResult } from "./message.ts";
import type { FailureCode, Todo, UsageTotal } from "./turn.ts";

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

export type ToolTrouble =
  | "denied"
  | "unknown_tool"
  | "invalid_input"
  | "threw"
  | "timeout"
  | "canceled"
  | "too_large"
  | "repeated"
  | "outcome_unknown";

/**
 * Every fact an agent's log may hold, by type. All but the last six types are the vocabulary clients of other
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
  };
  "run.started": { runId: string; model: string; boot: string };
  "run.tick": { runId: string; step: number };
  "run.paused": { runId: string; reason: "hitl" | "error" | "exhausted" | "subagent" };
  "run.resumed": { runId: string; reason: "recovered"; attempt: number; strikes: number; boot: string };
  "run.canceled": { runId: string; reason?: string };
  "agent.started": { runId: string };
  "agent.completed": { runId: string; result: string };
  "agent.error": { runId: string; error: string; code: FailureCode; advice?: string };
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
  };
  "middleware.before_model": { middlewareName: string };
  "middleware.after_model": { middlewareName: string };
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
  "history.cleared": { by: string; usage: (UsageTotal & { model: string; calls: number })[] };
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
});

export type EventQuery = z.infer<typeof eventQuerySchema>;
