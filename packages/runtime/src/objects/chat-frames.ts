import {
  type AgentEvent,
  type ChatFrame,
  type ConversationUpdate,
  type Message,
  formatNote,
  eventToUpdates,
} from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import { toEndFrames as toSubagentEndFrames } from "./subagents/to-subagent-frames.ts";

const noFrames: readonly ChatFrame[] = [];

/** Converts an event to chat frames. */
export function toChatFrames(event: AgentEvent, store: AgentStore): readonly ChatFrame[] {
  // Text is sent as the model generates it, before it is stored.
  if (event.type === "model.delta") return noFrames;
  let frames = noFrames;
  for (const update of eventToUpdates(event)) {
    const more = toUpdateFrames(update, event, store);
    if (more.length > 0) frames = frames.length === 0 ? more : frames.concat(more);
  }
  return frames;
}

function toUpdateFrames(update: ConversationUpdate, event: AgentEvent, store: AgentStore): readonly ChatFrame[] {
  switch (update.kind) {
    case "request": {
      const { runId, key, position } = update;
      const timestamp = Date.parse(event.ts);
      const messages = update.messages.map((message): Message => ({
        ...message,
        status: "pending",
        timestamp,
        runId,
        attempt: 1,
      }));
      return [createQueuedFrame(key, runId, position, messages)];
    }
    case "turn-started":
    case "turn-resumed":
    case "draft-started":
      return [{ type: "status", status: "thinking" }];
    case "turn-paused":
      return [{ type: "status", status: "waiting" }];
    case "turn-ended":
      return toEndFrames(update, store);
    case "message-completed":
      return toMessageFrames(update, store);
    case "retry": {
      const { runId: taskId, error, attempt, inMs: retryIn } = update;
      return [{ type: "task-retrying", taskId, error, attempt, retryIn }];
    }
    case "call-started":
      return [{ type: "status", status: "executing" }];
    case "call-settled": {
      const { runId, callId, name, result } = update;
      const { output, failed, blob } = result;
      return [
        { type: "tool_result", callId, name, output, ...(failed ? { failed } : {}), ...(blob ? { blob } : {}), runId },
      ];
    }
    case "subagent":
      return toSubagentEndFrames(update.event, store);
    case "note":
      return update.note.kind === "middleware" ? [{ type: "warning", warning: formatNote(update.note) }] : noFrames;
    case "agent-stopped":
      return [{ type: "status", status: "stopped" }];
    case "agent-resumed":
      return [{ type: "status", status: "idle" }];
    case "cleared":
      return [{ type: "history", messages: [] }];
    default:
      return noFrames;
  }
}

type Update<K extends ConversationUpdate["kind"]> = Extract<ConversationUpdate, { kind: K }>;

function toMessageFrames({ runId, messageId, calls }: Update<"message-completed">, store: AgentStore): ChatFrame[] {
  const message = store.messages.get(messageId);
  const frames: ChatFrame[] = [];
  if (message?.content) frames.push({ type: "text_done", messageId });
  if (message) frames.push({ type: "message-complete", message });
  if (message && calls.length === 0)
    frames.push({ type: "chat", message: { role: "assistant", content: message.content } });
  for (const call of calls) frames.push({ type: "tool_call", ...call, runId });
  return frames;
}

function toEndFrames({ runId, end }: Update<"turn-ended">, store: AgentStore): ChatFrame[] {
  if (end.status === "completed")
    return [
      { type: "task-complete", taskId: runId },
      { type: "status", status: "idle" },
    ];
  if (end.status === "error") {
    const { message: error, code, advice } = end.failure;
    const attempts = (store.turns.get(runId)?.attempt ?? 0) + 1;
    return [
      { type: "error", error, ...(code ? { code } : {}), ...(advice ? { advice } : {}) },
      { type: "task-failed", taskId: runId, error, attempts },
      { type: "status", status: "idle" },
    ];
  }
  // The partial response, or requests that were never started.
  const cancelled = store.messages.listByTurn(runId).filter(({ status }) => status === "cancelled");
  return [
    ...cancelled.map((message) => ({ type: "message-complete", message }) as const),
    { type: "task-canceled", taskId: runId },
    // A queued turn may be canceled while another one is running.
    ...(store.turns.getRunning() || store.facts.getStoppedBy() !== undefined
      ? []
      : [{ type: "status", status: "idle" } as const]),
  ];
}

/** Confirms a message to its sender, and announces it to all other clients. */
export function createQueuedFrame(id: string, taskId: string, position: number, messages: Message[]): ChatFrame {
  return { type: "task-queued", id, taskId, position, messages };
}
