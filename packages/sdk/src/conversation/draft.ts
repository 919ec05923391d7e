import type { MessageToolCall } from "../protocol/message.ts";
import { createCall } from "./call.ts";
import type { Conversation } from "./conversation.ts";
import { updateEntry, findEntryIndex, insertEntry } from "./entries.ts";
import { createEntry } from "./entry.ts";

/** More of a message that is being written. */
export function appendText(now: Conversation, id: string, text: string, reasoning: string): Conversation {
  const index = findEntryIndex(now.entries, id);
  const before = now.entries[index] ?? { ...createEntry(id, "assistant", "streaming", 0), runId: now.run };
  const entry = {
    ...before,
    text: before.text + text,
    reasoning: before.reasoning + reasoning,
    reasoningSize: before.reasoningSize + reasoning.length,
  };
  const entries = index < 0 ? insertEntry(now.entries, entry) : updateEntry(now.entries, index, entry);
  return { ...now, retry: undefined, entries };
}

/** A call, added to the message that is being written. If that has not come, the call stands alone until it does. */
export function openCall(now: Conversation, runId: string, made: MessageToolCall): Conversation {
  if (now.entries.some(({ calls }) => calls.some(({ id }) => id === made.id))) return now;
  const call = createCall(made, now);
  const index = now.entries.findLastIndex((entry) => entry.stage === "streaming" && entry.runId === runId);
  const home = now.entries[index];
  if (home)
    return { ...now, retry: undefined, entries: updateEntry(now.entries, index, { calls: [...home.calls, call] }) };
  const alone = { ...createEntry(toLoneCallId(made.id), "assistant", "streaming", 0), runId, calls: [call] };
  return { ...now, retry: undefined, entries: insertEntry(now.entries, alone) };
}

/** The id of an entry that holds nothing but this call. */
export function toLoneCallId(callId: string): string {
  return `call ${callId}`;
}
