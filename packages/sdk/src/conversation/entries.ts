import type { Call } from "./call.ts";
import type { Entry } from "./entry.ts";

export type Entries = readonly Entry[];

/** The latest entry with this id; what happens, happens at the end, so it is looked for from there. */
export function findEntryIndex(entries: Entries, id: string): number {
  return entries.findLastIndex((entry) => entry.id === id);
}

/** The same entries but for one; the others stay the same objects, so that only that one is drawn again. */
export function updateEntry(entries: Entries, index: number, part: Partial<Entry>): Entries {
  const entry = entries[index];
  if (!entry) return entries;
  const next = [...entries];
  next[index] = { ...entry, ...part };
  return next;
}

/** A new entry goes behind what was said and before what waits its turn. */
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

/** What waited has its place now: behind everything that was said so far. */
export function placeWaiting(entries: Entries, chosen: (entry: Entry) => boolean): Entries {
  return entries
    .filter((entry) => entry.stage === "waiting" && chosen(entry))
    .reduce<Entries>((all, entry) => insertEntry(removeEntry(all, entry.id), { ...entry, stage: "done" }), entries);
}

/** What has its place since an event, by whoever knows which that is, has it for good. */
export function assignPositions(entries: Entries, place: number, chosen: (entry: Entry) => boolean): Entries {
  let next = place;
  return entries.map((entry) =>
    entry.seq === undefined && entry.stage === "done" && chosen(entry) ? { ...entry, seq: next++ } : entry,
  );
}

/** The entries with this call as it is now, if it is here; else as they were. */
export function updateCall(entries: Entries, callId: string, change: (call: Call) => Call): Entries {
  const index = entries.findLastIndex(({ calls }) => calls.some(({ id }) => id === callId));
  const calls = entries[index]?.calls;
  if (!calls) return entries;
  return updateEntry(entries, index, { calls: calls.map((call) => (call.id === callId ? change(call) : call)) });
}

// What is being said has its place when it is said to the end; what was taken back meanwhile stands before it.
const stageOrders: Partial<Record<Entry["stage"], number>> = { streaming: 1, waiting: 2, unsent: 3, refused: 3 };

function getOrder({ stage }: Entry): number {
  return stageOrders[stage] ?? 0;
}
