import { positionsPerEvent } from "../internal/event-position.ts";
import type { AgentEvent } from "../protocol/event.ts";
import { reduceActivity } from "./activity.ts";
import { createCall, toResult, type Result } from "./call.ts";
import { backfillCapability } from "./capabilities.ts";
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
  startTurn,
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
import { applySubagentEvent, applySubagentFrame, removeStream, type SubagentEvent } from "./subagents.ts";
import { addTask, changeTask } from "./tasks.ts";
import { type CallResult, type ConversationUpdate, eventToUpdates } from "./update.ts";
import { addApproval, addContinuation, answerApproval, removeContinuation, removeTurnWaits } from "./waits.ts";

/** The event that an update comes from. Empty if it comes from a chat frame. */
type UpdateSource = Partial<Pick<AgentEvent, "seq" | "ts">>;

/** Applies an event of the log to the conversation. Text comes from chat frames, not from `model.delta`. */
export function reduceEvent(conversation: Conversation, event: AgentEvent): Conversation {
  if (event.type === "model.delta") return conversation;
  return eventToUpdates(event).reduce((next, update) => {
    const reduced = reduceUpdate(next, update, event);
    const state = reduceState(next.state, update);
    return state === reduced.state ? reduced : { ...reduced, state };
  }, conversation);
}

/** Applies an update that comes from an event, or from the chat frame that repeats it. */
export function reduceUpdate(
  conversation: Conversation,
  update: ConversationUpdate,
  source: UpdateSource = {},
): Conversation {
  const at = source.ts === undefined ? 0 : Date.parse(source.ts);
  const position = source.seq === undefined ? undefined : source.seq * positionsPerEvent;
  switch (update.kind) {
    case "request":
      return acceptRequest(conversation, update, at);
    case "turn-started": {
      const next = startTurn(conversation, update.runId);
      if (position === undefined) return next;
      return { ...next, entries: assignPositions(next.entries, position, (entry) => entry.runId === update.runId) };
    }
    case "turn-resumed":
      return startTurn(conversation, update.runId);
    case "message-delivered": {
      const ids = new Set(update.messageIds);
      const entries = placeWaiting(conversation.entries, ({ id }) => ids.has(id));
      return {
        ...conversation,
        entries: position === undefined ? entries : assignPositions(entries, position, ({ id }) => ids.has(id)),
      };
    }
    case "message-requeued": {
      const { runId, messageIds } = update;
      return {
        ...conversation,
        entries: conversation.entries.map((entry) => (messageIds.includes(entry.id) ? { ...entry, runId } : entry)),
      };
    }
    case "draft-started":
      return startDraft(startTurn(conversation, update.runId), update, at);
    case "draft-text":
      return update.messageId === undefined
        ? conversation
        : appendText(conversation, update.messageId, update.text, update.reasoning);
    case "draft-discarded":
      return discardDraft(conversation, update.runId);
    case "retry":
      return { ...conversation, retry: { error: update.error, attempt: update.attempt, inMs: update.inMs } };
    case "message-completed":
      return completeMessage(conversation, update, position);
    case "activity":
      return { ...conversation, activity: reduceActivity(conversation.activity, update.activity) };
    case "call":
      return openCall(startTurn(conversation, update.runId), update.runId, update.call);
    case "call-progress":
      return applyProgress(conversation, update.callId, update.text);
    case "call-settled":
      return settleCall(conversation, update.callId, fromCallResult(update.result));
    case "capability":
      return applyCapability(conversation, update.event);
    case "files":
      return { ...applyFileChange(conversation, update.changed), lastChanged: toFileChanges(update.changed) };
    case "approval-asked":
      return { ...conversation, waits: addApproval(conversation.waits, update.approval) };
    case "approval-answered":
      return { ...conversation, waits: answerApproval(conversation.waits, update.answer) };
    case "wait-started":
      return { ...conversation, waits: addContinuation(conversation.waits, update.continuation) };
    case "wait-resolved":
      return { ...conversation, waits: removeContinuation(conversation.waits, update.continuationId) };
    case "turn-ended": {
      const { runId, end } = update;
      const ended = { ...conversation, waits: removeTurnWaits(conversation.waits, runId) };
      const next =
        end.status === "error"
          ? addFailure(ended, runId, end.failure, position === undefined ? {} : { at, seq: position })
          : ended;
      // More frames of the turn follow the event that ends it. The last of them repeats the end.
      return position === undefined ? endTurn(next, runId, stageByEnd[end.status]) : next;
    }
    case "note": {
      const { seq, ts } = source;
      if (seq === undefined || ts === undefined) return conversation;
      const notes = addNote(conversation.notes, update, { seq, ts });
      return notes === conversation.notes
        ? conversation
        : { ...conversation, notes, lastNote: notes.find((note) => note.seq === position) };
    }
    case "todos":
      return { ...conversation, todos: update.todos };
    case "task-created":
      return { ...conversation, tasks: addTask(conversation.tasks, update.task) };
    case "task-changed":
      return { ...conversation, tasks: changeTask(conversation.tasks, update.change) };
    case "subagent":
      return applySubagent(conversation, update.event);
    case "subagent-frame":
      return { ...conversation, subagentStreams: applySubagentFrame(conversation.subagentStreams, update.frame) };
    case "notice":
      return addNotice(conversation, update, at, position);
    case "cleared":
      return clearConversation(conversation);
    default:
      return conversation;
  }
}

const stageByEnd = { completed: "done", canceled: "canceled", error: "failed" } as const;

type Update<K extends ConversationUpdate["kind"]> = Extract<ConversationUpdate, { kind: K }>;

/**
 * Adds what only the events from before we connected contain, and the messages do not: notes, calls made by code,
 * changes to the workspace, durations, and details of failures.
 */
export function backfillEvents(conversation: Conversation, events: readonly AgentEvent[]): Conversation {
  return events.reduce(
    (next, event) => eventToUpdates(event).reduce((last, update) => backfillUpdate(last, update, event), next),
    conversation,
  );
}

function backfillUpdate(conversation: Conversation, update: ConversationUpdate, event: AgentEvent): Conversation {
  switch (update.kind) {
    case "capability":
      return applyCapability(conversation, update.event, backfillCapability);
    case "files":
      return applyFileChange(conversation, update.changed);
    case "call-settled":
      return settleCall(conversation, update.callId, fromCallResult(update.result));
    case "note":
      return {
        ...conversation,
        notes: dropEarlierNotes(addNote(conversation.notes, update, event), conversation.entries),
      };
    case "turn-ended": {
      const { runId, end } = update;
      const isShown = end.status === "error" && findEntryIndex(conversation.entries, toErrorId(runId)) >= 0;
      return isShown ? addFailure(conversation, runId, end.failure) : conversation;
    }
    default:
      return conversation;
  }
}

function fromCallResult({ output, failed, blob, stored, errorCode, ms }: CallResult): Result {
  if (stored) return { ...toResult(stored, output), ms };
  return { failed, output, size: output.length, blob, errorCode, ms };
}

/** Adds messages that were sent from elsewhere: another tab, the CLI or a program. */
function acceptRequest(conversation: Conversation, { runId, messages }: Update<"request">, at: number): Conversation {
  const entries = messages.reduce<Entries>((entries, { id, role, content }) => {
    const index = findEntryIndex(entries, id);
    const known = entries[index];
    // Our own message, whose confirmation we missed.
    if (known?.stage === "unsent" || known?.stage === "refused") {
      return upsertEntry(entries, { ...known, stage: "waiting", error: undefined, runId });
    }
    if (known) return updateEntry(entries, index, { runId });
    return insertEntry(entries, { ...createEntry(id, role, "waiting", at), text: content, runId });
  }, conversation.entries);
  return { ...conversation, entries };
}

function addNotice(
  conversation: Conversation,
  { runId, messageId, content }: Update<"notice">,
  at: number,
  seq: number | undefined,
): Conversation {
  if (findEntryIndex(conversation.entries, messageId) >= 0) return conversation;
  const entry = { ...createEntry(messageId, "user", "done", at), text: content, runId, seq, notice: true as const };
  return { ...conversation, entries: insertEntry(conversation.entries, entry) };
}

function applySubagent(conversation: Conversation, event: SubagentEvent): Conversation {
  const subagents = applySubagentEvent(conversation.subagents, event);
  if (event.type !== "subagent.completed") return { ...conversation, subagents };
  return { ...conversation, subagents, subagentStreams: removeStream(conversation.subagentStreams, event.data.taskId) };
}

function startDraft(
  conversation: Conversation,
  { runId, messageId, model }: Update<"draft-started">,
  at: number,
): Conversation {
  const known = conversation.entries[findEntryIndex(conversation.entries, messageId)];
  if (known && known.stage !== "streaming") return conversation;
  const entry = { ...createEntry(messageId, "assistant", "streaming", at), runId, model };
  return { ...conversation, model, retry: undefined, entries: upsertEntry(conversation.entries, entry) };
}

function completeMessage(
  conversation: Conversation,
  update: Update<"message-completed">,
  seq: number | undefined,
): Conversation {
  const { runId, messageId, model } = update;
  const index = findEntryIndex(conversation.entries, messageId);
  const entry = conversation.entries[index];
  if (!entry) return conversation;
  const known = new Set(entry.calls.map(({ id }) => id));
  const calls = update.calls.filter(({ id }) => !known.has(id)).map((call) => createCall(call, conversation));
  const part = { runId, model, seq, stage: "done", calls: [...entry.calls, ...calls] } as const;
  return { ...conversation, entries: updateEntry(conversation.entries, index, part) };
}

function clearConversation(conversation: Conversation): Conversation {
  const unsent = conversation.entries.filter(({ stage }) => stage === "unsent" || stage === "refused");
  return {
    ...emptyConversation,
    ready: conversation.ready,
    model: conversation.model,
    turnCount: conversation.turnCount + 1,
    entries: unsent,
  };
}
