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
import { beginTurn, toErrorId, settleCall } from "./run.ts";
import { isRunOpen } from "./state.ts";
import { frameToUpdates } from "./update.ts";

/** The conversation after one more frame of its agent: an event, what happens in a turn, or what only sockets tell. */
export function receive(now: Conversation, frame: Frame): Conversation {
  if ("seq" in frame) return reduceEvent(now, frame);
  switch (frame.type) {
    case "sync":
      return applySync(now, frame.state);
    case "history":
      return restoreHistory(now, frame.messages);
    case "pending-message":
      return { ...storeMessage(now, frame.message), run: frame.message.runId };
    case "message-complete":
      return applyMessageComplete(now, frame.message);
    case "status":
      // A turn that was only waiting ends with “idle” too, while another one runs.
      if (frame.status === now.state.status || (frame.status === "idle" && now.run !== undefined)) return now;
      return { ...now, state: { ...now.state, status: frame.status } };
    case "task-queued":
      return applyQueued(now, frame);
    case "error":
      return applyError(now, frame);
    default:
      return frameToUpdates(frame).reduce((next, update) => reduceUpdate(next, update), now);
  }
}

/** A person said something; the agent does not know yet. */
export function addUnsent(now: Conversation, id: string, text: string, at: number): Conversation {
  if (findEntryIndex(now.entries, id) >= 0) return now;
  return {
    ...now,
    error: undefined,
    entries: insertEntry(now.entries, { ...createEntry(id, "user", "unsent", at), text }),
  };
}

export function removeMessage(now: Conversation, id: string): Conversation {
  return { ...now, entries: removeEntry(now.entries, id) };
}

function applySync(now: Conversation, state: AgentStatus): Conversation {
  return { ...now, state, run: isRunOpen(state.run) ? state.run.runId : undefined, retry: undefined };
}

function storeMessage(now: Conversation, message: Message): Conversation {
  if (message.role === "tool") {
    return message.toolResult
      ? settleCall(now, message.toolResult.callId, toResult(message.toolResult, message.content))
      : now;
  }
  const before = now.entries[findEntryIndex(now.entries, message.id)];
  const entry = toEntry(message, now, before);
  // A call that came before its message stood alone until now.
  const calls = new Set(entry.calls.map(({ id }) => toLoneCallId(id)));
  return {
    ...now,
    entries: upsertEntry(
      now.entries.filter(({ id }) => !calls.has(id)),
      entry,
    ),
  };
}

function applyMessageComplete(now: Conversation, message: Message): Conversation {
  const next = storeMessage({ ...now, retry: undefined }, message);
  if (message.role !== "assistant" || message.status !== "complete" || !message.content) return next;
  return { ...next, lastSaid: { id: message.id, text: message.content } };
}

function applyQueued(now: Conversation, frame: Extract<ChatFrame, { type: "task-queued" }>): Conversation {
  // Nothing goes before it, so it begins; but what joined the running turn waits for that turn's next step.
  const first =
    frame.position === 0 && frame.taskId !== now.run && frame.messages.some(({ status }) => status === "pending");
  const next = frame.messages.reduce((all, message) => {
    const before = all.entries[findEntryIndex(all.entries, message.id)];
    // A frame sent twice is answered twice; by then its message may have gone further.
    if (before && before.stage !== "unsent" && before.stage !== "refused") return all;
    const last = all.entries.findLast(({ seq }) => seq !== undefined)?.seq ?? 0;
    return message.seq !== undefined && message.seq < last
      ? removeMessage(all, message.id)
      : storeMessage(all, message);
  }, now);
  return first ? beginTurn(next, frame.taskId) : next;
}

function applyError(now: Conversation, frame: Extract<ChatFrame, { type: "error" }>): Conversation {
  const error = { message: frame.error, advice: frame.advice };
  const index = frame.id === undefined ? -1 : findEntryIndex(now.entries, frame.id);
  const entry = now.entries[index];
  if (entry?.stage === "unsent")
    return { ...now, entries: upsertEntry(now.entries, { ...entry, stage: "refused", error }) };
  // A turn that failed has said so in an event just before. Any other error answers something that we sent.
  const failed = now.run !== undefined && findEntryIndex(now.entries, toErrorId(now.run)) >= 0;
  return failed ? now : { ...now, error };
}
