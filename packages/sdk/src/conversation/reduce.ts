import { positionsPerEvent } from "../internal/event-position.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { createCall, toResult, type Result } from "./call.ts";
import { recallCapability } from "./capabilities.ts";
import { toFileChanges } from "./changes.ts";
import { emptyConversation, type Conversation } from "./conversation.ts";
import { appendText, openCall } from "./draft.ts";
import {
  updateEntry,
  type Entries,
  findEntryIndex,
  insertEntry,
  upsertEntry,
  assignPositions,
  placeWaiting,
} from "./entries.ts";
import { createEntry } from "./entry.ts";
import { addNote, dropEarlierNotes } from "./note.ts";
import {
  beginTurn,
  applyCapability,
  applyFileChange,
  endTurn,
  toErrorId,
  settleCall,
  applyProgress,
  addFailure,
  discardDraft,
} from "./run.ts";
import { reduceState } from "./state.ts";
import { type CallResult, type ConversationUpdate, eventToUpdates } from "./update.ts";

/** Where in the log an update is from. Those from chat frames are from nowhere in it. */
type UpdateSource = Partial<Pick<AgentEvent, "seq" | "ts">>;

/** The conversation after one more event of its agent's log. Text is told by chat frames, not by `model.delta`. */
export function reduceEvent(now: Conversation, event: AgentEvent): Conversation {
  if (event.type === "model.delta") return now;
  return eventToUpdates(event).reduce((next, update) => {
    const reduced = reduceUpdate(next, update, event);
    const state = reduceState(next.state, update);
    return state === reduced.state ? reduced : { ...reduced, state };
  }, now);
}

/** The conversation after an update, from an event or from the chat frame that repeats it. */
export function reduceUpdate(now: Conversation, update: ConversationUpdate, source: UpdateSource = {}): Conversation {
  const at = source.ts === undefined ? 0 : Date.parse(source.ts);
  const place = source.seq === undefined ? undefined : source.seq * positionsPerEvent;
  switch (update.kind) {
    case "request":
      return acceptRequest(now, update, at);
    case "turn-started": {
      const next = beginTurn(now, update.runId);
      if (place === undefined) return next;
      return { ...next, entries: assignPositions(next.entries, place, (entry) => entry.runId === update.runId) };
    }
    case "turn-resumed":
      return beginTurn(now, update.runId);
    case "message-taken": {
      const ids = new Set(update.messageIds);
      const entries = placeWaiting(now.entries, ({ id }) => ids.has(id));
      return {
        ...now,
        entries: place === undefined ? entries : assignPositions(entries, place, ({ id }) => ids.has(id)),
      };
    }
    case "message-requeued": {
      const { runId, messageIds } = update;
      return {
        ...now,
        entries: now.entries.map((entry) => (messageIds.includes(entry.id) ? { ...entry, runId } : entry)),
      };
    }
    case "draft-started":
      return startDraft(beginTurn(now, update.runId), update, at);
    case "draft-text":
      return update.messageId === undefined ? now : appendText(now, update.messageId, update.text, update.reasoning);
    case "draft-discarded":
      return discardDraft(now, update.runId);
    case "retry":
      return { ...now, retry: { error: update.error, attempt: update.attempt, inMs: update.inMs } };
    case "message-completed":
      return completeMessage(now, update, place);
    case "call":
      return openCall(beginTurn(now, update.runId), update.runId, update.call);
    case "call-progress":
      return applyProgress(now, update.callId, update.text);
    case "call-settled":
      return settleCall(now, update.callId, fromCallResult(update.result));
    case "capability":
      return applyCapability(now, update.event);
    case "files":
      return { ...applyFileChange(now, update.changed), lastChanged: toFileChanges(update.changed) };
    case "turn-ended": {
      const { runId, end } = update;
      const next =
        end.status === "error"
          ? addFailure(now, runId, end.failure, place === undefined ? {} : { at, seq: place })
          : now;
      // More frames of the turn follow the event that ends it; the last one repeats it.
      return place === undefined ? endTurn(next, runId, stageByEnd[end.status]) : next;
    }
    case "note": {
      const { seq, ts } = source;
      if (seq === undefined || ts === undefined) return now;
      const notes = addNote(now.notes, update, { seq, ts });
      return notes === now.notes ? now : { ...now, notes, lastNote: notes.find((note) => note.seq === place) };
    }
    case "todos":
      return { ...now, todos: update.todos };
    case "cleared":
      return clearConversation(now);
    default:
      return now;
  }
}

const stageByEnd = { completed: "done", canceled: "canceled", error: "failed" } as const;

type Update<K extends ConversationUpdate["kind"]> = Extract<ConversationUpdate, { kind: K }>;

/**
 * What events from before we looked on add to the messages of that time, which tell the rest themselves: the notes
 * between them, what the code of calls has called, what calls changed in the workspace, how long they took, and all about
 * why one of them or a turn failed.
 */
export function recallEvents(now: Conversation, events: readonly AgentEvent[]): Conversation {
  return events.reduce(
    (next, event) => eventToUpdates(event).reduce((last, update) => recallUpdate(last, update, event), next),
    now,
  );
}

function recallUpdate(now: Conversation, update: ConversationUpdate, event: AgentEvent): Conversation {
  switch (update.kind) {
    case "capability":
      return applyCapability(now, update.event, recallCapability);
    case "files":
      return applyFileChange(now, update.changed);
    case "call-settled":
      return settleCall(now, update.callId, fromCallResult(update.result));
    case "note":
      return { ...now, notes: dropEarlierNotes(addNote(now.notes, update, event), now.entries) };
    case "turn-ended": {
      const { runId, end } = update;
      const known = end.status === "error" && findEntryIndex(now.entries, toErrorId(runId)) >= 0;
      return known ? addFailure(now, runId, end.failure) : now;
    }
    default:
      return now;
  }
}

function fromCallResult({ output, failed, blob, stored, errorCode, ms }: CallResult): Result {
  if (stored) return { ...toResult(stored, output), ms };
  return { failed, output, size: output.length, blob, errorCode, ms };
}

/** What somebody said elsewhere: another tab, the command line, a program. */
function acceptRequest(now: Conversation, { runId, messages }: Update<"request">, at: number): Conversation {
  const entries = messages.reduce<Entries>((all, { id, role, content }) => {
    const index = findEntryIndex(all, id);
    const known = all[index];
    // Ours, of which we did not know that it had arrived.
    if (known?.stage === "unsent" || known?.stage === "refused") {
      return upsertEntry(all, { ...known, stage: "waiting", error: undefined, runId });
    }
    if (known) return updateEntry(all, index, { runId });
    return insertEntry(all, { ...createEntry(id, role, "waiting", at), text: content, runId });
  }, now.entries);
  return { ...now, entries };
}

function startDraft(now: Conversation, { runId, messageId, model }: Update<"draft-started">, at: number): Conversation {
  const known = now.entries[findEntryIndex(now.entries, messageId)];
  if (known && known.stage !== "streaming") return now;
  const entry = { ...createEntry(messageId, "assistant", "streaming", at), runId, model };
  return { ...now, model, retry: undefined, entries: upsertEntry(now.entries, entry) };
}

function completeMessage(
  now: Conversation,
  update: Update<"message-completed">,
  seq: number | undefined,
): Conversation {
  const { runId, messageId, model } = update;
  const index = findEntryIndex(now.entries, messageId);
  const entry = now.entries[index];
  if (!entry) return now;
  const known = new Set(entry.calls.map(({ id }) => id));
  const calls = update.calls.filter(({ id }) => !known.has(id)).map((call) => createCall(call, now));
  const part = { runId, model, seq, stage: "done", calls: [...entry.calls, ...calls] } as const;
  return { ...now, entries: updateEntry(now.entries, index, part) };
}

function clearConversation(now: Conversation): Conversation {
  const ours = now.entries.filter(({ stage }) => stage === "unsent" || stage === "refused");
  return { ...emptyConversation, ready: now.ready, model: now.model, turnsSeen: now.turnsSeen + 1, entries: ours };
}
