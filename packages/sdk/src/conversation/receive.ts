import type { ChatFrame } from "../protocol/frame.ts";
import type { Message } from "../protocol/message.ts";
import type { AgentStatus } from "../protocol/turn.ts";
import type { Conversation, Frame } from "./conversation.ts";
import { resultOf } from "./call.ts";
import { loneCallId } from "./draft.ts";
import { indexOf, placed, put, without } from "./entries.ts";
import { blankEntry, entryOf } from "./entry.ts";
import { restored } from "./history.ts";
import { reduceEvent, reduceUpdate } from "./reduce.ts";
import { begun, errorId, settleCall } from "./run.ts";
import { isOpen } from "./state.ts";
import { updatesFromFrame } from "./update.ts";

/** The conversation after one more frame of its agent: an event, what happens in a turn, or what only sockets tell. */
export function receive(now: Conversation, frame: Frame): Conversation {
  if ("seq" in frame) return reduceEvent(now, frame);
  switch (frame.type) {
    case "sync":
      return synced(now, frame.state);
    case "history":
      return restored(now, frame.messages);
    case "pending-message":
      return { ...kept(now, frame.message), run: frame.message.runId };
    case "message-complete":
      return completed(now, frame.message);
    case "status":
      // A turn that was only waiting ends with “idle” too, while another one runs.
      if (frame.status === now.state.status || (frame.status === "idle" && now.run !== undefined)) return now;
      return { ...now, state: { ...now.state, status: frame.status } };
    case "task-queued":
      return queued(now, frame);
    case "error":
      return wrong(now, frame);
    default:
      return updatesFromFrame(frame).reduce((next, update) => reduceUpdate(next, update), now);
  }
}

/** A person said something; the agent does not know yet. */
export function spoken(now: Conversation, id: string, text: string, at: number): Conversation {
  if (indexOf(now.entries, id) >= 0) return now;
  return { ...now, trouble: undefined, entries: placed(now.entries, { ...blankEntry(id, "user", "unsent", at), text }) };
}

export function forgotten(now: Conversation, id: string): Conversation {
  return { ...now, entries: without(now.entries, id) };
}

function synced(now: Conversation, state: AgentStatus): Conversation {
  return { ...now, state, run: isOpen(state.run) ? state.run.runId : undefined, retry: undefined };
}

function kept(now: Conversation, message: Message): Conversation {
  if (message.role === "tool") {
    return message.toolResult ? settleCall(now, message.toolResult.callId, resultOf(message.toolResult, message.content)) : now;
  }
  const before = now.entries[indexOf(now.entries, message.id)];
  const entry = entryOf(message, now, before);
  // A call that came before its message stood alone until now.
  const calls = new Set(entry.calls.map(({ id }) => loneCallId(id)));
  return { ...now, entries: put(now.entries.filter(({ id }) => !calls.has(id)), entry) };
}

function completed(now: Conversation, message: Message): Conversation {
  const next = kept({ ...now, retry: undefined }, message);
  if (message.role !== "assistant" || message.status !== "complete" || !message.content) return next;
  return { ...next, lastSaid: { id: message.id, text: message.content } };
}

function queued(now: Conversation, frame: Extract<ChatFrame, { type: "task-queued" }>): Conversation {
  // Nothing goes before it, so it begins; but what joined the running turn waits for that turn's next step.
  const first = frame.position === 0 && frame.taskId !== now.run && frame.messages.some(({ status }) => status === "pending");
  const next = frame.messages.reduce((all, message) => {
    const before = all.entries[indexOf(all.entries, message.id)];
    // A frame sent twice is answered twice; by then its message may have gone further.
    if (before && before.stage !== "unsent" && before.stage !== "refused") return all;
    const last = all.entries.findLast(({ seq }) => seq !== undefined)?.seq ?? 0;
    return message.seq !== undefined && message.seq < last ? forgotten(all, message.id) : kept(all, message);
  }, now);
  return first ? begun(next, frame.taskId) : next;
}

function wrong(now: Conversation, frame: Extract<ChatFrame, { type: "error" }>): Conversation {
  const trouble = { message: frame.error, advice: frame.advice };
  const index = frame.id === undefined ? -1 : indexOf(now.entries, frame.id);
  const entry = now.entries[index];
  if (entry?.stage === "unsent") return { ...now, entries: put(now.entries, { ...entry, stage: "refused", trouble }) };
  // A turn that failed has said so in an event just before. Any other error answers something that we sent.
  const failed = now.run !== undefined && indexOf(now.entries, errorId(now.run)) >= 0;
  return failed ? now : { ...now, trouble };
}
