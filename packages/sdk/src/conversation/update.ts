import type { CapabilityEvent } from "../client/capability.ts";
import type { Continuation } from "../protocol/continuation.ts";
import type { AgentEvent, EventData, PauseReason, SentMessage, ToolErrorCode } from "../protocol/event.ts";
import type { Activity, ChatFrame, SubagentFrame } from "../protocol/frame.ts";
import type { MessageToolCall, MessageToolResult } from "../protocol/message.ts";
import type { Task } from "../protocol/task.ts";
import type { UsageTotal } from "../protocol/turn-usage.ts";
import type { Context, Failure, Todo } from "../protocol/turn.ts";
import type { SubagentEvent } from "./subagents.ts";
import { type PendingApproval, toPendingApproval, toWait } from "./waits.ts";

/** Something worth showing that is not a message. */
export type NoteContent =
  | { kind: "compaction"; before: number; after: number; summary?: string | undefined }
  | { kind: "middleware"; middleware: string; hook: string; error: string };

/** How a turn ended, with its result or the reason of the failure. */
export type TurnEnd =
  | { status: "completed"; result?: string | undefined }
  | { status: "canceled" }
  | { status: "error"; failure: Omit<Failure, "code"> & Partial<Pick<Failure, "code">> };

/** The result of a tool call. `stored` is the result as messages contain it. */
export interface CallResult {
  output: string;
  failed: boolean;
  blob?: string | undefined;
  stored?: MessageToolResult | undefined;
  errorCode?: ToolErrorCode | undefined;
  ms?: number | undefined;
}

/**
 * What an event means for a conversation. Socket frames, `/run`, the client's turns, the dashboard and the CLI are all
 * based on these updates, so that the rules for reading a log (when a draft is void, which events end a turn) are
 * implemented only once, below.
 */
export type ConversationUpdate =
  | { kind: "request"; runId: string; key: string; joined: boolean; position: number; messages: SentMessage[] }
  /** Messages that joined a turn got their place in it. */
  | { kind: "message-delivered"; runId: string; messageIds: string[] }
  /** The turn that these messages joined ended without them. They belong to this one now. */
  | { kind: "message-requeued"; runId: string; messageIds: string[] }
  | { kind: "turn-started"; runId: string; model: string }
  | { kind: "turn-resumed"; runId: string }
  | { kind: "turn-paused"; runId: string; reason: PauseReason }
  | { kind: "turn-ended"; runId: string; end: TurnEnd }
  | { kind: "step"; runId: string; step: number }
  /** The model starts a message, for the first time or again. */
  | { kind: "draft-started"; runId: string; messageId: string; step: number; model: string }
  /** More text of the message. Events name the turn, frames the message. */
  | { kind: "draft-text"; runId?: string | undefined; messageId?: string | undefined; text: string; reasoning: string }
  /** The text of the unfinished message is void. */
  | { kind: "draft-discarded"; runId: string }
  | { kind: "retry"; runId: string; error: string; attempt: number; inMs: number }
  | {
      kind: "message-completed";
      runId: string;
      messageId: string;
      model: string;
      calls: MessageToolCall[];
      context?: Context | undefined;
    }
  /** What the agent's code shows while it works. Comes from frames only. */
  | { kind: "activity"; runId: string; activity: Activity }
  | { kind: "usage"; runId: string; usage: UsageTotal; context?: Context | undefined }
  /** A call without its message. Comes from frames only. */
  | { kind: "call"; runId: string; call: MessageToolCall }
  | { kind: "call-started"; runId: string; callId: string }
  | { kind: "call-progress"; runId: string; callId: string; text: string }
  | { kind: "call-settled"; runId: string; callId: string; name: string; result: CallResult }
  /** Code that the call `callId` runs made a call, or got its result. */
  | { kind: "capability"; runId: string; callId: string; event: CapabilityEvent }
  | { kind: "files"; changed: EventData["files.changed"] }
  | { kind: "note"; runId: string; note: NoteContent }
  | { kind: "todos"; todos: Todo[] }
  | { kind: "task-created"; task: Task }
  | { kind: "task-changed"; change: EventData["task.updated"] }
  | { kind: "subagent"; event: SubagentEvent }
  /** What a sub-agent does that streams. Comes from frames only. */
  | { kind: "subagent-frame"; frame: SubagentFrame }
  /** A message that nobody sent, such as the reports of sub-agents. */
  | { kind: "notice"; runId: string; messageId: string; content: string }
  /** Calls need a person's approval. */
  | { kind: "approval-asked"; runId: string; approval: PendingApproval }
  /** Calls were decided; others of the same approval may still be open. */
  | { kind: "approval-answered"; runId: string; answer: EventData["hitl.resume"] }
  /** A call waits for an answer, a webhook or a time. */
  | { kind: "wait-started"; runId: string; continuation: Continuation }
  | { kind: "wait-resolved"; runId: string; continuationId: string }
  | { kind: "title"; title: string }
  /** The agent accepts nothing until `agent-resumed`. */
  | { kind: "agent-stopped" }
  | { kind: "agent-resumed" }
  | { kind: "cleared"; isStopped: boolean };

const noUpdates: readonly ConversationUpdate[] = [];

/** Converts an event to updates. Event types that readers should see need a case here. */
export function eventToUpdates(event: AgentEvent): readonly ConversationUpdate[] {
  switch (event.type) {
    case "request.accepted": {
      const { runId, idempotencyKey: key, joined = false, position, messages } = event.data;
      return [{ kind: "request", runId, key, joined, position, messages }];
    }
    case "message.delivered":
      return [{ kind: "message-delivered", ...event.data }];
    case "message.requeued": {
      const { runId, messageIds } = event.data;
      return [{ kind: "message-requeued", runId, messageIds }];
    }
    case "run.started":
      return [{ kind: "turn-started", runId: event.data.runId, model: event.data.model }];
    case "run.resumed": {
      // The model call that was in progress is repeated.
      const { runId } = event.data;
      return [
        { kind: "draft-discarded", runId },
        { kind: "turn-resumed", runId },
      ];
    }
    case "run.paused":
      return [{ kind: "turn-paused", ...event.data }];
    case "run.tick":
      return [{ kind: "step", ...event.data }];
    case "agent.completed": {
      const { runId, result } = event.data;
      return [{ kind: "turn-ended", runId, end: { status: "completed", result } }];
    }
    case "run.canceled":
      return [{ kind: "turn-ended", runId: event.data.runId, end: { status: "canceled" } }];
    case "agent.error": {
      const { runId, error: message, code, advice, budget } = event.data;
      const failure = { code, message, ...(advice ? { advice } : {}), ...(budget ? { budget } : {}) };
      return [{ kind: "turn-ended", runId, end: { status: "error", failure } }];
    }
    case "model.started": {
      const { runId, messageId, step, model } = event.data;
      return [{ kind: "draft-started", runId, messageId, step, model }];
    }
    case "model.delta": {
      const { runId, delta: text = "", reasoning = "" } = event.data;
      return [{ kind: "draft-text", runId, text, reasoning }];
    }
    case "model.failed": {
      const { runId, error, attempt, retryInMs: inMs } = event.data;
      const discarded = { kind: "draft-discarded", runId } as const;
      return inMs === undefined ? [discarded] : [discarded, { kind: "retry", runId, error, attempt, inMs }];
    }
    case "model.completed": {
      const { runId, messageId, model, usage, context, toolCalls } = event.data;
      const calls = toolCalls.map(({ id, name, input }) => ({ id, name, input }));
      return [
        { kind: "message-completed", runId, messageId, model, calls, context },
        { kind: "usage", runId, usage },
      ];
    }
    case "reply.started": {
      const { runId, messageId, step } = event.data;
      return [{ kind: "draft-started", runId, messageId, step, model: "" }];
    }
    case "reply.completed": {
      const { runId, messageId, toolCalls: calls } = event.data;
      return [{ kind: "message-completed", runId, messageId, model: "", calls }];
    }
    case "reply.discarded":
      return [{ kind: "draft-discarded", runId: event.data.runId }];
    case "model.generated":
      return [{ kind: "usage", runId: event.data.runId, usage: event.data.usage, context: event.data.context }];
    case "tool.started":
      return [{ kind: "call-started", runId: event.data.runId, callId: event.data.callId }];
    case "tool.output": {
      const { runId, callId, toolName: name, output, result: stored, ms } = event.data;
      const result = { output, failed: false, blob: stored.blob, stored, ms };
      return [{ kind: "call-settled", runId, callId, name, result }];
    }
    case "tool.error": {
      const { runId, callId, toolName: name, error: output, errorCode, ms } = event.data;
      return [{ kind: "call-settled", runId, callId, name, result: { output, failed: true, errorCode, ms } }];
    }
    case "capability.called":
    case "capability.answered":
      return [{ kind: "capability", runId: event.data.runId, callId: event.data.parentCallId, event }];
    case "files.changed":
      return [{ kind: "files", changed: event.data }];
    case "context.compacted": {
      const { runId, before, after, summary } = event.data;
      return [{ kind: "note", runId, note: { kind: "compaction", before, after, summary } }];
    }
    case "middleware.failed": {
      const { runId, middlewareName: middleware, hook, error } = event.data;
      return [{ kind: "note", runId, note: { kind: "middleware", middleware, hook, error } }];
    }
    case "todos.updated":
      return [{ kind: "todos", todos: event.data.todos }];
    case "task.created":
      return [{ kind: "task-created", task: event.data.task }];
    case "task.updated":
      return [{ kind: "task-changed", change: event.data }];
    case "subagent.spawned":
    case "subagent.started":
    case "subagent.action":
    case "subagent.spent":
    case "subagent.waiting":
    case "subagent.reported":
    case "subagent.completed":
    case "subagent.closed":
    case "subagent.deleted":
      return [{ kind: "subagent", event }];
    case "subagent.delivered": {
      const { runId, messageId, content } = event.data;
      if (messageId === undefined || content === undefined) return noUpdates;
      return [{ kind: "notice", runId, messageId, content }];
    }
    case "hitl.interrupt":
      return [{ kind: "approval-asked", runId: event.data.runId, approval: toPendingApproval(event.data, event) }];
    case "hitl.resume":
      return [{ kind: "approval-answered", runId: event.data.runId, answer: event.data }];
    case "continuation.created":
      return [{ kind: "wait-started", runId: event.data.runId, continuation: toWait(event.data, event.ts) }];
    case "continuation.resolved": {
      const { runId, continuationId } = event.data;
      return [{ kind: "wait-resolved", runId, continuationId }];
    }
    case "title.set":
      return [{ kind: "title", title: event.data.title }];
    case "agent.stopped":
      return [{ kind: "agent-stopped" }];
    case "agent.resumed":
      return [{ kind: "agent-resumed" }];
    case "history.cleared":
      return [{ kind: "cleared", isStopped: event.data.stoppedBy !== undefined }];
    default:
      return noUpdates;
  }
}

/** Converts a chat frame to updates, if it is about something that happens in a turn. */
export function frameToUpdates(frame: ChatFrame): readonly ConversationUpdate[] {
  switch (frame.type) {
    case "text_delta":
      return [{ kind: "draft-text", messageId: frame.messageId, text: frame.delta, reasoning: "" }];
    case "reasoning":
      return [{ kind: "draft-text", messageId: frame.messageId, text: "", reasoning: frame.content }];
    case "tool_call": {
      const { id, name, input, runId } = frame;
      return [{ kind: "call", runId, call: { id, name, input } }];
    }
    case "activity":
      return [{ kind: "activity", runId: frame.runId, activity: frame.activity }];
    case "tool_progress":
      return [{ kind: "call-progress", runId: frame.runId, callId: frame.callId, text: frame.text }];
    case "tool_result": {
      const { runId, callId, name, output, failed = false, blob } = frame;
      return [{ kind: "call-settled", runId, callId, name, result: { output, failed, blob } }];
    }
    case "subagent_text_delta":
    case "subagent_tool_call":
    case "subagent_tool_result":
    case "subagent_complete":
    case "subagent_error":
      return [{ kind: "subagent-frame", frame }];
    case "task-retrying": {
      const { taskId: runId, error, attempt, retryIn: inMs } = frame;
      return [
        { kind: "draft-discarded", runId },
        { kind: "retry", runId, error, attempt, inMs },
      ];
    }
    case "task-complete":
      return [{ kind: "turn-ended", runId: frame.taskId, end: { status: "completed" } }];
    case "task-canceled":
      return [{ kind: "turn-ended", runId: frame.taskId, end: { status: "canceled" } }];
    case "task-failed":
      return [{ kind: "turn-ended", runId: frame.taskId, end: { status: "error", failure: { message: frame.error } } }];
    default:
      return noUpdates;
  }
}

/** Updates that also come from chat frames, which are in order with the messages of a history. */
const frameUpdateKinds: ReadonlySet<ConversationUpdate["kind"]> = new Set([
  "draft-text",
  "call-settled",
  "retry",
  "turn-ended",
]);

/** Converts a frame of a stream that contains both events and chat frames. Each update is returned once. */
export function toUpdates(frame: ChatFrame | AgentEvent): readonly ConversationUpdate[] {
  if (!("seq" in frame)) return frameToUpdates(frame);
  // By far the most frequent event.
  if (frame.type === "model.delta") return noUpdates;
  return eventToUpdates(frame).filter(({ kind }) => !frameUpdateKinds.has(kind));
}

/** Formats a note as one sentence. */
export function formatNote(note: NoteContent): string {
  if (note.kind === "middleware") return `The middleware “${note.middleware}” failed in ${note.hook}: ${note.error}`;
  const change = note.summary === undefined ? "Old tool results were shortened" : "Old messages were summarized";
  return `${change} for the model: about ${note.before.toLocaleString("en")} tokens became ${note.after.toLocaleString("en")}.`;
}
