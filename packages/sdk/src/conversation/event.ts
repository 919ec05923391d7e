import { isOfCapability } from "../client/capability.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { placesPerEvent } from "../protocol/place.ts";
import { blank, type Conversation } from "./conversation.ts";
import { callOf, resultOf, type Result } from "./call.ts";
import { recalledOf } from "./capabilities.ts";
import { changedIn } from "./changes.ts";
import { changed, type Entries, indexOf, placed, put, seated, taken } from "./entries.ts";
import { blankEntry, type Trouble } from "./entry.ts";
import { noted, within } from "./note.ts";
import { begun, callWithin, changedBy, errorId, settleCall, troubled, unsaid } from "./run.ts";

/** Events say where things belong and what came of them. What is being said comes in chat frames, not by `model.delta`. */
export function receiveEvent(now: Conversation, event: AgentEvent): Conversation {
  switch (event.type) {
    case "request.accepted":
      return accepted(now, event.data, Date.parse(event.ts));
    case "run.started": {
      const { runId } = event.data;
      const next = begun(now, runId);
      return { ...next, entries: seated(next.entries, placeOf(event), (entry) => entry.runId === runId) };
    }
    case "run.resumed":
      return unsaid(begun(now, event.data.runId), event.data.runId);
    case "message.taken": {
      const ids = new Set(event.data.messageIds);
      return { ...now, entries: seated(taken(now.entries, ({ id }) => ids.has(id)), placeOf(event), ({ id }) => ids.has(id)) };
    }
    case "message.requeued": {
      // The turn it had joined ended first; it goes on as a turn of its own.
      const { runId, messageIds } = event.data;
      return { ...now, entries: now.entries.map((entry) => (messageIds.includes(entry.id) ? { ...entry, runId } : entry)) };
    }
    case "model.started":
      return started(begun(now, event.data.runId), event.data, Date.parse(event.ts));
    case "model.completed":
      return answered(now, event.data, placeOf(event));
    case "tool.output":
    case "tool.error":
      return settleCall(now, event.data.callId, resultIn(event));
    case "capability.called":
    case "capability.answered":
      return callWithin(now, event);
    case "files.changed":
      return { ...changedBy(now, event), lastChanged: changedIn(event) };
    case "agent.error":
      return troubled(now, event.data.runId, troubleIn(event.data), { at: Date.parse(event.ts), seq: placeOf(event) });
    case "context.compacted":
    case "middleware.failed":
      return told(now, event);
    case "todos.written":
      return { ...now, todos: event.data.todos };
    case "history.cleared":
      return cleared(now);
    default:
      return now;
  }
}

function told(now: Conversation, event: AgentEvent): Conversation {
  const notes = noted(now.notes, event);
  return notes === now.notes ? now : { ...now, notes, lastNote: notes.find(({ seq }) => seq === placeOf(event)) };
}

/**
 * What events from before we looked on add to the messages of that time, which tell the rest themselves: the notes
 * between them, what the code of calls has called, what calls changed in the workspace, how long they took, and all about
 * why one of them or a turn failed.
 */
export function recalled(now: Conversation, events: readonly AgentEvent[]): Conversation {
  return events.reduce((next, event) => {
    if (isOfCapability(event)) return callWithin(next, event, recalledOf);
    if (event.type === "files.changed") return changedBy(next, event);
    if (event.type === "tool.output" || event.type === "tool.error") return settleCall(next, event.data.callId, resultIn(event));
    if (event.type !== "agent.error") return { ...next, notes: within(noted(next.notes, event), next.entries) };
    const { runId } = event.data;
    return indexOf(next.entries, errorId(runId)) < 0 ? next : troubled(next, runId, troubleIn(event.data));
  }, now);
}

function placeOf({ seq }: AgentEvent): number {
  return seq * placesPerEvent;
}

function resultIn({ type, data }: Extract<AgentEvent, { type: "tool.output" | "tool.error" }>): Result {
  if (type === "tool.output") return { ...resultOf(data.result, data.output), ms: data.ms };
  const { error, trouble, ms } = data;
  return { failed: true, output: error, size: error.length, trouble, ms };
}

function troubleIn({ error, advice, code, budget }: Data<"agent.error">): Trouble {
  return { message: error, advice, code, budget };
}

type Data<T extends AgentEvent["type"]> = Extract<AgentEvent, { type: T }>["data"];

/** What somebody said elsewhere: another tab, the command line, a program. */
function accepted(now: Conversation, { runId, messages }: Data<"request.accepted">, at: number): Conversation {
  const entries = messages.reduce<Entries>((all, { id, role, content }) => {
    const index = indexOf(all, id);
    const known = all[index];
    // Ours, of which we did not know that it had arrived.
    if (known?.stage === "unsent" || known?.stage === "refused") return put(all, { ...known, stage: "waiting", trouble: undefined, runId });
    if (known) return changed(all, index, { runId });
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

function answered(now: Conversation, { runId, messageId, model, toolCalls }: Data<"model.completed">, seq: number): Conversation {
  const index = indexOf(now.entries, messageId);
  const entry = now.entries[index];
  if (!entry) return now;
  const known = new Set(entry.calls.map(({ id }) => id));
  const calls = toolCalls.filter(({ id }) => !known.has(id)).map((call) => callOf(call, now));
  const part = { runId, model, seq, stage: "done", calls: [...entry.calls, ...calls] } as const;
  return { ...now, entries: changed(now.entries, index, part) };
}
