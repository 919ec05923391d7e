import type { Entries, Entry, Note, Notes } from "@thinkery/sdk/react";

/** What stands in a transcript, from top to bottom. */
export type Line =
  | { kind: "entry"; id: string; entry: Entry }
  | { kind: "note"; id: string; note: Note; /** So often in its turn. */ times: number }
  | { kind: "pause"; id: string; waitsFor: string[] };

/** Messages with what happened between them; `paused` is a turn that waits for reports. */
export function buildLines(entries: Entries, notes: Notes, paused: string | undefined): Line[] {
  const lines: Line[] = [];
  const left = foldNotes(notes);
  const last =
    paused === undefined ? -1 : entries.findLastIndex((entry) => entry.runId === paused && entry.stage === "done");
  const waitsFor = paused === undefined ? [] : listPendingTools(entries, paused);
  for (const [index, entry] of entries.entries()) {
    // What has no place yet stands behind everything that happened.
    const place = entry.seq ?? (entry.stage === "done" ? 0 : Number.POSITIVE_INFINITY);
    while (left[0] && left[0].note.seq < place) lines.push(...left.splice(0, 1));
    lines.push({ kind: "entry", id: entry.id, entry });
    if (index === last && waitsFor.length > 0) lines.push({ kind: "pause", id: "pause", waitsFor });
  }
  return [...lines, ...left];
}

type NoteLine = Extract<Line, { kind: "note" }>;

/** What fails at every step of a turn is told once, where it began. */
function foldNotes(notes: Notes): NoteLine[] {
  const lines = new Map<string, NoteLine>();
  for (const note of notes) {
    const key = note.kind === "middleware" ? [note.runId, note.middleware, note.hook, note.error].join("\0") : note.id;
    const known = lines.get(key);
    if (known) known.times++;
    else lines.set(key, { kind: "note", id: note.id, note, times: 1 });
  }
  return [...lines.values()];
}

/** The tools whose answers a turn has not got yet. */
export function listPendingTools(entries: Entries, run: string | undefined): string[] {
  const calls = entries.flatMap((entry) => (entry.runId === run ? entry.calls : []));
  return [...new Set(calls.filter(({ result, abandoned }) => !result && !abandoned).map(({ name }) => name))];
}
