import type { ChatFrame } from "../protocol/frame.ts";
import type { Message } from "../protocol/message.ts";
import type { AgentStatus } from "../protocol/turn.ts";
import { toResult } from "./call.ts";
import type { Conversation, Frame } from "./conversation.ts";
import { toLoneCallId } from "./draft.ts";
import { findEntryIndex, insertEntry, upsertEntry, removeEntry } from "./entries.ts";
import { createEntry, toEntry } from "./entry.ts";
import { restoreHistory } from "./history.ts";
import { reduceEvent, reduceUpdate } from "./reduce.ts";
import { startTurn, toErrorId, settleCall } from "./run.ts";
import { isRunOpen } from "./state.ts";
import { frameToUpdates } from "./update.ts";

/** Applies a frame of the agent to the conversation. */
export function receive(conversation: Conversation, frame: Frame): Conversation {
  if ("seq" in frame) return reduceEvent(conversation, frame);
  switch (frame.type) {
    case "sync":
      return applySync(conversation, frame.state);
    case "history":
      return restoreHistory(conversation, frame.messages);
    case "pending-message":
      return { ...storeMessage(conversation, frame.message), run: frame.message.runId };
    case "message-complete":
      return applyMessageComplete(conversation, frame.message);
    case "status":
      // Canceling a queued turn also sends “idle”, even while another turn runs.
      if (frame.status === conversation.state.status || (frame.status === "idle" && conversation.run !== undefined))
        return conversation;
      return { ...conversation, state: { ...conversation.state, status: frame.status } };
    case "task-queued":
      return applyQueued(conversation, frame);
    case "error":
      return applyError(conversation, frame);
    default:
      return frameToUpdates(frame).reduce((next, update) => reduceUpdate(next, update), conversation);
  }
}

/** Adds a message that the agent has not confirmed yet. */
export function addUnsent(conversation: Conversation, id: string, text: string, at: number): Conversation {
  if (findEntryIndex(conversation.entries, id) >= 0) return conversation;
  return {
    ...conversation,
    error: undefined,
    entries: insertEntry(conversation.entries, { ...createEntry(id, "user", "unsent", at), text }),
  };
}

export function removeMessage(conversation: Conversation, id: string): Conversation {
  return { ...conversation, entries: removeEntry(conversation.entries, id) };
}

function applySync(conversation: Conversation, state: AgentStatus): Conversation {
  const run = isRunOpen(state.run) ? state.run.runId : undefined;
  // What sub-agents did while we were not connected is unknown.
  return { ...conversation, state, run, retry: undefined, subagentStreams: {} };
}

function storeMessage(conversation: Conversation, message: Message): Conversation {
  if (message.role === "tool") {
    return message.toolResult
      ? settleCall(conversation, message.toolResult.callId, toResult(message.toolResult, message.content))
      : conversation;
  }
  const before = conversation.entries[findEntryIndex(conversation.entries, message.id)];
  const entry = toEntry(message, conversation, before);
  // Replaces the entries of calls that arrived before their message.
  const loneCallIds = new Set(entry.calls.map(({ id }) => toLoneCallId(id)));
  return {
    ...conversation,
    entries: upsertEntry(
      conversation.entries.filter(({ id }) => !loneCallIds.has(id)),
      entry,
    ),
  };
}

function applyMessageComplete(conversation: Conversation, message: Message): Conversation {
  const next = storeMessage({ ...conversation, retry: undefined }, message);
  if (message.role !== "assistant" || message.status !== "complete" || !message.content) return next;
  return { ...next, lastMessage: { id: message.id, text: message.content } };
}

function applyQueued(conversation: Conversation, frame: Extract<ChatFrame, { type: "task-queued" }>): Conversation {
  // Nothing is queued before it, so it starts. A message that joined the running turn waits for the next step instead.
  const isNext =
    frame.position === 0 &&
    frame.taskId !== conversation.run &&
    frame.messages.some(({ status }) => status === "pending");
  const updated = frame.messages.reduce((next, message) => {
    const before = next.entries[findEntryIndex(next.entries, message.id)];
    // A frame that was sent twice is confirmed twice; its message may have progressed meanwhile.
    if (before && before.stage !== "unsent" && before.stage !== "refused") return next;
    const last = next.entries.findLast(({ seq }) => seq !== undefined)?.seq ?? 0;
    return message.seq !== undefined && message.seq < last
      ? removeMessage(next, message.id)
      : storeMessage(next, message);
  }, conversation);
  return isNext ? startTurn(updated, frame.taskId) : updated;
}

function applyError(conversation: Conversation, frame: Extract<ChatFrame, { type: "error" }>): Conversation {
  const error = { message: frame.error, advice: frame.advice };
  const index = frame.id === undefined ? -1 : findEntryIndex(conversation.entries, frame.id);
  const entry = conversation.entries[index];
  if (entry?.stage === "unsent")
    return { ...conversation, entries: upsertEntry(conversation.entries, { ...entry, stage: "refused", error }) };
  // The failure of a turn was already reported by an event. Any other error is about a frame that we sent.
  const isTurnFailure =
    conversation.run !== undefined && findEntryIndex(conversation.entries, toErrorId(conversation.run)) >= 0;
  return isTurnFailure ? conversation : { ...conversation, error };
}
