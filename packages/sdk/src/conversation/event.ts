import type { AgentEvent } from "../protocol/event.ts";
import { blank, type Conversation } from "./conversation.ts";
import { changed, type Entries, indexOf, placed, put, taken } from "./entries.ts";
import { blankEntry, resultOf } from "./entry.ts";
import { begun, settleCall, troubled, unsaid } from "./run.ts";

/** Events say where things belong and what came of them. What is being said comes in chat frames, not by `model.delta`. */
export function receiveEvent(now: Conversation, event: AgentEvent): Conversation {
  switch (event.type) {
    case "request.accepted":
      return accepted(now, event.data, Date.parse(event.ts));
    case "run.started":
      return begun(now, event.data.runId);
    case "run.resumed":
      return unsaid(begun(now, event.data.runId), event.data.runId);
    case "message.taken": {
      const ids = new Set(event.data.messageIds);
      return { ...now, entries: taken(now.entries, ({ id }) => ids.has(id)) };
    }
    case "message.requeued": {
      // The turn it had joined ended first; it goes on as a turn of its own.
      const { runId, messageIds } = event.data;
      return { ...now, entries: now.entries.map((entry) => (messageIds.includes(entry.id) ? { ...entry, runId } : entry)) };
    }
    case "model.started":
      return started(begun(now, event.data.runId), event.data, Date.parse(event.ts));
    case "model.completed":
      return answered(now, event.data);
    case "tool.output":
      return settleCall(now, event.data.callId, resultOf(event.data.result, event.data.output));
    case "tool.error": {
      const { callId, error } = event.data;
      return settleCall(now, callId, { failed: true, output: error, size: error.length });
    }
    case "agent.error": {
      const { runId, error, advice } = event.data;
      return troubled(now, runId, { message: error, advice });
    }
    case "todos.written":
      return { ...now, todos: event.data.todos };
    case "history.cleared":
      return cleared(now);
    default:
      return now;
  }
}

type Data<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>["data"];

/** What somebody said elsewhere: another tab, the command line, a program. */
function accepted(now: Conversation, { runId, messages }: Data<"request.accepted">, at: number): Conversation {
  const entries = messages.reduce<Entries>((all, { id, role, content }) => {
    const index = indexOf(all, id);
    if (index >= 0) return changed(all, index, { runId });
    return placed(all, { ...blankEntry(id, role, "waiting", at), text: content, runId });
  }, now.entries);
  return { ...now, entries };
}

function started(now: Conversation, { runId, messageId, model }: Data<"model.started">, at: number): Conversation {
  const known = now.entries[indexOf(now.entries, messageId)];
  if (known && known.stage !== "streaming") return now;
  const entry = { ...blankEntry(messageId, "assistant", "streaming", at), runId, model };
  return { ...now, model, retry: undefined, entries: put(now.entries, entry) };
}

function cleared(now: Conversation): Conversation {
  const ours = now.entries.filter(({ stage }) => stage === "unsent" || stage === "refused");
  return { ...blank, ready: now.ready, model: now.model, turnsSeen: now.turnsSeen + 1, entries: ours };
}

function answered(now: Conversation, { runId, messageId, model, toolCalls }: Data<"model.completed">): Conversation {
  const index = indexOf(now.entries, messageId);
  const entry = now.entries[index];
  if (!entry) return now;
  const known = new Set(entry.calls.map(({ id }) => id));
  const calls = toolCalls
    .filter(({ id }) => !known.has(id))
    .map(({ id, name, input }) => ({ id, name, input, ...(now.results[id] ? { result: now.results[id] } : {}) }));
  const part = { runId, model, stage: "done", calls: [...entry.calls, ...calls] } as const;
  return { ...now, entries: changed(now.entries, index, part) };
}
