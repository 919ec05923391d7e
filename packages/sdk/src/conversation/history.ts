import type { Message } from "../protocol/message.ts";
import { isOpen, type CallDetails, mergeResults, type Results, toResult } from "./call.ts";
import type { Conversation } from "./conversation.ts";
import { type Entries, findEntryIndex, insertEntry } from "./entries.ts";
import { type Entry, toEntry } from "./entry.ts";
import { dropEarlierNotes } from "./note.ts";
import { settleEntry } from "./run.ts";

/** Maximum number of messages in a history frame. If it has that many, there may be older ones. */
const maxHistoryMessages = 50;

/** Replaces the latest entries with the agent's own list of messages. */
export function restoreHistory(conversation: Conversation, messages: readonly Message[]): Conversation {
  const results = mergeMessageResults(conversation.results, messages);
  const details = { results, capabilities: conversation.capabilities, changes: conversation.changes };
  const shown = messages.filter(isShown);
  const known = new Map(conversation.entries.map((entry) => [entry.id, entry]));
  const listed = new Set(messages.map(({ id }) => id));
  const unsent = conversation.entries.filter(
    ({ id, stage }) => !listed.has(id) && (stage === "unsent" || stage === "refused"),
  );
  // Keep older entries only if there is no gap between them and these messages.
  const firstIndex = shown[0] ? findEntryIndex(conversation.entries, shown[0].id) : -1;
  const before = conversation.entries
    .slice(0, Math.max(0, firstIndex))
    .filter((entry) => !unsent.includes(entry) && !listed.has(entry.id));
  const entries = [
    ...shown.map((message) => refreshEntry(message, details, known.get(message.id))),
    ...unsent,
  ].reduce<Entries>(insertEntry, before);
  const settled = settleOtherTurns(entries, conversation.run);
  const isFull = messages.filter(({ seq }) => seq !== undefined).length >= maxHistoryMessages;
  return {
    ...conversation,
    ready: true,
    results,
    older: before.length > 0 ? conversation.older : isFull,
    entries: settled,
    notes: dropEarlierNotes(conversation.notes, settled),
  };
}

/** Adds a page of older messages before the first entry. */
export function prependHistory(
  conversation: Conversation,
  messages: readonly Message[],
  hasMore: boolean,
): Conversation {
  const results = mergeMessageResults(conversation.results, messages);
  const details = { results, capabilities: conversation.capabilities, changes: conversation.changes };
  const known = new Set(conversation.entries.map(({ id }) => id));
  const older = messages
    .filter((message) => isShown(message) && !known.has(message.id))
    .map((message) => refreshEntry(message, details));
  return {
    ...conversation,
    results,
    older: hasMore,
    entries: [...settleOtherTurns(older, conversation.run), ...conversation.entries],
  };
}

/** Marks everything as ended that does not belong to the running turn. */
function settleOtherTurns(entries: Entries, run: string | undefined): Entries {
  return entries.flatMap((entry) =>
    entry.runId === run || entry.stage === "waiting" ? entry : settleEntry(entry, "canceled"),
  );
}

function isShown({ role }: Message): boolean {
  return role !== "tool";
}

// The message replaces the entry, except for what is sent only once: the advice of an error, and progress.
function refreshEntry(message: Message, details: CallDetails, known?: Entry): Entry {
  const entry = toEntry(message, details);
  const progressById = new Map(known?.calls.map(({ id, progress }) => [id, progress]));
  return {
    ...entry,
    calls: entry.calls.map((call) => {
      const progress = progressById.get(call.id);
      return progress !== undefined && isOpen(call) ? { ...call, progress } : call;
    }),
    error: (entry.error && known?.error) ?? entry.error,
  };
}

function mergeMessageResults(known: Results, messages: readonly Message[]): Results {
  const results: Record<string, Results[string]> = { ...known };
  for (const { toolResult, content } of messages) {
    if (toolResult) results[toolResult.callId] = mergeResults(known[toolResult.callId], toResult(toolResult, content));
  }
  return results;
}
