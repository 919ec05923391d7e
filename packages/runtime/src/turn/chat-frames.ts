import type { AgentEvent, ChatFrame, Message } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";

const none: ChatFrame[] = [];

/** A fact of the log in the words of the chat vocabulary. */
export function chatFrames(event: AgentEvent, store: AgentStore): ChatFrame[] {
  switch (event.type) {
    case "request.accepted": {
      const { runId, idempotencyKey, messages, position } = event.data;
      const timestamp = Date.parse(event.ts);
      const said = messages.map((message): Message => ({ ...message, status: "pending", timestamp, runId, attempt: 1 }));
      return [queuedFrame(idempotencyKey, runId, position, said)];
    }
    case "run.started":
    case "run.resumed":
    case "model.started":
      return [{ type: "status", status: "thinking" }];
    case "model.completed": {
      const { runId, messageId, toolCalls } = event.data;
      const message = store.messages.get(messageId);
      const frames: ChatFrame[] = [];
      if (message?.content) frames.push({ type: "text_done", messageId });
      if (message) frames.push({ type: "message-complete", message });
      if (message && toolCalls.length === 0) frames.push({ type: "chat", message: { role: "assistant", content: message.content } });
      for (const { id, name, input } of toolCalls) frames.push({ type: "tool_call", id, name, input, runId });
      return frames;
    }
    case "model.failed": {
      const { runId, error, attempt, retryInMs } = event.data;
      return retryInMs === undefined ? [] : [{ type: "task-retrying", taskId: runId, error, attempt, retryIn: retryInMs }];
    }
    case "run.paused":
      return [{ type: "status", status: "waiting" }];
    case "middleware.failed": {
      const { middlewareName: name, hook, error } = event.data;
      return [{ type: "warning", warning: `The middleware “${name}” failed in ${hook}: ${error}` }];
    }
    case "tool.started":
      return [{ type: "status", status: "executing" }];
    case "tool.output": {
      const { runId, callId, toolName: name, output, result } = event.data;
      return [{ type: "tool_result", callId, name, output, ...(result.blob ? { blob: result.blob } : {}), runId }];
    }
    case "tool.error": {
      const { runId, callId, toolName: name, error } = event.data;
      return [{ type: "tool_result", callId, name, output: error, failed: true, runId }];
    }
    case "agent.completed":
      return [{ type: "task-complete", taskId: event.data.runId }, { type: "status", status: "idle" }];
    case "agent.error": {
      const { runId, error, code, advice } = event.data;
      const attempts = (store.turns.get(runId)?.attempt ?? 0) + 1;
      return [
        { type: "error", error, code, ...(advice ? { advice } : {}) },
        { type: "task-failed", taskId: runId, error, attempts },
        { type: "status", status: "idle" },
      ];
    }
    case "run.canceled": {
      // What was said so far, or what was asked for and never begun.
      const left = store.messages.ofTurn(event.data.runId).filter(({ status }) => status === "cancelled");
      return [
        ...left.map((message) => ({ type: "message-complete", message }) as const),
        { type: "task-canceled", taskId: event.data.runId },
        // It may have been one that waited while another runs on.
        ...(store.turns.running() ? [] : [{ type: "status", status: "idle" } as const]),
      ];
    }
    case "history.cleared":
      return [{ type: "history", messages: [] }];
    default:
      return none;
  }
}

/** The answer to whoever said something, and the news of it for everybody else. */
export function queuedFrame(id: string, taskId: string, position: number, messages: Message[]): ChatFrame {
  return { type: "task-queued", id, taskId, position, messages };
}
