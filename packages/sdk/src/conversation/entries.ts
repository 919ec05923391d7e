import type { Call } from "./call.ts";
import type { Entry } from "./entry.ts";

export type Entries = readonly Entry[];

/** Finds the entry with this id. Searches from the end, where changes happen. */
export function findEntryIndex(entries: Entries, id: string): number {
  return entries.findLastIndex((entry) => entry.id === id);
}

/** Updates one entry. The others stay the same objects, so that only that one is rendered again. */
export function updateEntry(entries: Entries, index: number, part: Partial<Entry>): Entries {
  const entry = entries[index];
  if (!entry) return entries;
  const next = [...entries];
  next[index] = { ...entry, ...part };
  return next;
}

/** Inserts an entry after completed messages and before queued ones. */
export function insertEntry(entries: Entries, entry: Entry): Entries {
  const index = entries.findIndex((other) => getOrder(other) > getOrder(entry));
  return index < 0 ? [...entries, entry] : [...entries.slice(0, index), entry, ...entries.slice(index)];
}

export function upsertEntry(entries: Entries, entry: Entry): Entries {
  const index = findEntryIndex(entries, entry.id);
  const before = entries[index];
  if (!before) return insertEntry(entries, entry);
  if (getOrder(before) === getOrder(entry)) return updateEntry(entries, index, entry);
  return insertEntry(removeEntry(entries, entry.id), entry);
}

export function removeEntry(entries: Entries, id: string): Entries {
  return entries.filter((entry) => entry.id !== id);
}

/** Moves queued messages to their place in the conversation: after everything so far. */
export function placeWaiting(entries: Entries, isChosen: (entry: Entry) => boolean): Entries {
  return entries
    .filter((entry) => entry.stage === "waiting" && isChosen(entry))
    .reduce<Entries>(
      (placed, entry) => insertEntry(removeEntry(placed, entry.id), { ...entry, stage: "done" }),
      entries,
    );
}

/** Assigns final positions to entries that got their place with an event. */
export function assignPositions(entries: Entries, first: number, isChosen: (entry: Entry) => boolean): Entries {
  let next = first;
  return entries.map((entry) =>
    entry.seq === undefined && entry.stage === "done" && isChosen(entry) ? { ...entry, seq: next++ } : entry,
  );
}

/** Updates a call. Returns the same entries if the call is not among them. */
export function updateCall(entries: Entries, callId: string, change: (call: Call) => Call): Entries {
  const index = entries.findLastIndex(({ calls }) => calls.some(({ id }) => id === callId));
  const calls = entries[index]?.calls;
  if (!calls) return entries;
  return updateEntry(entries, index, { calls: calls.map((call) => (call.id === callId ? change(call) : call)) });
}

// A message gets its place when it is completed; messages that were canceled meanwhile come before it.
const stageOrders: Partial<Record<Entry["stage"], number>> = { streaming: 1, waiting: 2, unsent: 3, refused: 3 };

function getOrder({ stage }: Entry): number {
  return stageOrders[stage] ?? 0;
}
