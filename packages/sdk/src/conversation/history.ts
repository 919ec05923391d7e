import type { Message } from "../protocol/message.ts";
import { isOpen, type CallDetails, mergeResults, type Results, toResult } from "./call.ts";
import type { Conversation } from "./conversation.ts";
import { type Entries, findEntryIndex, insertEntry } from "./entries.ts";
import { type Entry, toEntry } from "./entry.ts";
import { dropEarlierNotes } from "./note.ts";
import { settleEntry } from "./run.ts";

/** How many messages a history holds at most; a full one may have more before it. */
const maxHistoryMessages = 50;

/** The agent's own word on its latest messages: whatever we had in their place is replaced by it. */
export function restoreHistory(now: Conversation, messages: readonly Message[]): Conversation {
  const results = mergeMessageResults(now.results, messages);
  const details = { results, capabilities: now.capabilities, changes: now.changes };
  const spoken = messages.filter(isSpoken);
  const known = new Map(now.entries.map((entry) => [entry.id, entry]));
  const listed = new Set(messages.map(({ id }) => id));
  const ours = now.entries.filter(({ id, stage }) => !listed.has(id) && (stage === "unsent" || stage === "refused"));
  // Older messages stay only if no hole lies between them and these.
  const joint = spoken[0] ? findEntryIndex(now.entries, spoken[0].id) : -1;
  const before = now.entries
    .slice(0, Math.max(0, joint))
    .filter((entry) => !ours.includes(entry) && !listed.has(entry.id));
  const entries = [
    ...spoken.map((message) => refreshEntry(message, details, known.get(message.id))),
    ...ours,
  ].reduce<Entries>(insertEntry, before);
  const shown = settleOtherTurns(entries, now.run);
  const full = messages.filter(({ seq }) => seq !== undefined).length >= maxHistoryMessages;
  return {
    ...now,
    ready: true,
    results,
    older: before.length > 0 ? now.older : full,
    entries: shown,
    notes: dropEarlierNotes(now.notes, shown),
  };
}

/** A page of messages from before the first entry. */
export function prependHistory(now: Conversation, messages: readonly Message[], more: boolean): Conversation {
  const results = mergeMessageResults(now.results, messages);
  const details = { results, capabilities: now.capabilities, changes: now.changes };
  const known = new Set(now.entries.map(({ id }) => id));
  const older = messages
    .filter((message) => isSpoken(message) && !known.has(message.id))
    .map((message) => refreshEntry(message, details));
  return { ...now, results, older: more, entries: [...settleOtherTurns(older, now.run), ...now.entries] };
}

/** Nothing but the turn that runs is under way. */
function settleOtherTurns(entries: Entries, run: string | undefined): Entries {
  return entries.flatMap((entry) =>
    entry.runId === run || entry.stage === "waiting" ? entry : settleEntry(entry, "canceled"),
  );
}

function isSpoken({ role }: Message): boolean {
  return role !== "tool";
}

// What the agent says of a message is all there is to it, but for what it told only once: advice, and what its calls show.
function refreshEntry(message: Message, ofCalls: CallDetails, known?: Entry): Entry {
  const entry = toEntry(message, ofCalls);
  const shown = new Map(known?.calls.map(({ id, progress }) => [id, progress]));
  return {
    ...entry,
    calls: entry.calls.map((call) => {
      const progress = shown.get(call.id);
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
