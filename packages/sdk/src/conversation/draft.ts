import type { MessageToolCall } from "../protocol/message.ts";
import { createCall } from "./call.ts";
import type { Conversation } from "./conversation.ts";
import { updateEntry, findEntryIndex, insertEntry } from "./entries.ts";
import { createEntry } from "./entry.ts";

/** Appends text to a message that is being written. */
export function appendText(conversation: Conversation, id: string, text: string, reasoning: string): Conversation {
  const index = findEntryIndex(conversation.entries, id);
  const before = conversation.entries[index] ?? {
    ...createEntry(id, "assistant", "streaming", 0),
    runId: conversation.run,
  };
  const entry = {
    ...before,
    text: before.text + text,
    reasoning: before.reasoning + reasoning,
    reasoningSize: before.reasoningSize + reasoning.length,
  };
  const entries =
    index < 0 ? insertEntry(conversation.entries, entry) : updateEntry(conversation.entries, index, entry);
  return { ...conversation, retry: undefined, entries };
}

/** Adds a call to the message that is being written. Until that message arrives, the call gets an entry of its own. */
export function openCall(conversation: Conversation, runId: string, toolCall: MessageToolCall): Conversation {
  if (conversation.entries.some(({ calls }) => calls.some(({ id }) => id === toolCall.id))) return conversation;
  const call = createCall(toolCall, conversation);
  const index = conversation.entries.findLastIndex((entry) => entry.stage === "streaming" && entry.runId === runId);
  const draft = conversation.entries[index];
  if (draft)
    return {
      ...conversation,
      retry: undefined,
      entries: updateEntry(conversation.entries, index, { calls: [...draft.calls, call] }),
    };
  const entry = { ...createEntry(toLoneCallId(toolCall.id), "assistant", "streaming", 0), runId, calls: [call] };
  return { ...conversation, retry: undefined, entries: insertEntry(conversation.entries, entry) };
}

/** Returns the id of an entry that contains only this call. */
export function toLoneCallId(callId: string): string {
  return `call ${callId}`;
}
