import type { Call } from "./call.ts";
import type { Entry } from "./entry.ts";

export type Entries = readonly Entry[];

/** The latest entry with this id; what happens, happens at the end, so it is looked for from there. */
export function indexOf(entries: Entries, id: string): number {
  return entries.findLastIndex((entry) => entry.id === id);
}

/** The same entries but for one; the others stay the same objects, so that only that one is drawn again. */
export function changed(entries: Entries, index: number, part: Partial<Entry>): Entries {
  const entry = entries[index];
  if (!entry) return entries;
  const next = [...entries];
  next[index] = { ...entry, ...part };
  return next;
}

/** A new entry goes behind what was said and before what waits its turn. */
export function placed(entries: Entries, entry: Entry): Entries {
  const index = entries.findIndex((other) => order(other) > order(entry));
  return index < 0 ? [...entries, entry] : [...entries.slice(0, index), entry, ...entries.slice(index)];
}

export function put(entries: Entries, entry: Entry): Entries {
  const index = indexOf(entries, entry.id);
  const before = entries[index];
  if (!before) return placed(entries, entry);
  if (order(before) === order(entry)) return changed(entries, index, entry);
  return placed(without(entries, entry.id), entry);
}

export function without(entries: Entries, id: string): Entries {
  return entries.filter((entry) => entry.id !== id);
}

/** What waited has its place now: behind everything that was said so far. */
export function taken(entries: Entries, chosen: (entry: Entry) => boolean): Entries {
  return entries
    .filter((entry) => entry.stage === "waiting" && chosen(entry))
    .reduce<Entries>((all, entry) => placed(without(all, entry.id), { ...entry, stage: "done" }), entries);
}

/** What has its place since an event, by whoever knows which that is, has it for good. */
export function seated(entries: Entries, place: number, chosen: (entry: Entry) => boolean): Entries {
  let next = place;
  return entries.map((entry) => (entry.seq === undefined && entry.stage === "done" && chosen(entry) ? { ...entry, seq: next++ } : entry));
}

/** The entries with this call as it is now, if it is here; else as they were. */
export function recast(entries: Entries, callId: string, change: (call: Call) => Call): Entries {
  const index = entries.findLastIndex(({ calls }) => calls.some(({ id }) => id === callId));
  const calls = entries[index]?.calls;
  if (!calls) return entries;
  return changed(entries, index, { calls: calls.map((call) => (call.id === callId ? change(call) : call)) });
}

// What is being said has its place when it is said to the end; what was taken back meanwhile stands before it.
const orders: Partial<Record<Entry["stage"], number>> = { streaming: 1, waiting: 2, unsent: 3, refused: 3 };

function order({ stage }: Entry): number {
  return orders[stage] ?? 0;
}
