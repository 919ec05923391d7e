import type { Entries, Entry, EntryStage, Note, Notes } from "@thinkery/sdk/react";

/** A line of the transcript, from top to bottom. */
export type Line =
  | { kind: "entry"; id: string; entry: Entry }
  /** Reports of sub-agents, in a message from the host. */
  | { kind: "report"; id: string; text: string }
  | { kind: "note"; id: string; note: Note; /** Occurrences in its turn. */ times: number }
  | { kind: "pause"; id: string; waitsFor: string[] }
  /** What the agent's code shows while it works. */
  | { kind: "activity"; id: string };

/**
 * Merges messages and notes; `paused` is the id of a turn that waits for results reported later. With `hasActivity`
 * there is a line for what the agent does now: after everything that was said, before messages that are queued.
 */
export function buildLines(entries: Entries, notes: Notes, paused: string | undefined, hasActivity = false): Line[] {
  const lines: Line[] = [];
  const remaining = foldNotes(notes);
  const lastOfPaused =
    paused === undefined ? -1 : entries.findLastIndex((entry) => entry.runId === paused && entry.stage === "done");
  const waitsFor = paused === undefined ? [] : listPendingTools(entries, paused);
  for (const [index, entry] of entries.entries()) {
    // Messages without a position in the log come after all notes.
    const position = entry.seq ?? (entry.stage === "done" ? 0 : Number.POSITIVE_INFINITY);
    while (remaining[0] && remaining[0].note.seq < position) lines.push(...remaining.splice(0, 1));
    lines.push(
      entry.notice ? { kind: "report", id: entry.id, text: entry.text } : { kind: "entry", id: entry.id, entry },
    );
    if (index === lastOfPaused && waitsFor.length > 0) lines.push({ kind: "pause", id: "pause", waitsFor });
  }
  lines.push(...remaining);
  if (hasActivity) {
    const firstQueued = lines.findIndex((line) => line.kind === "entry" && queuedStages.includes(line.entry.stage));
    lines.splice(firstQueued < 0 ? lines.length : firstQueued, 0, { kind: "activity", id: "activity" });
  }
  return lines;
}

const queuedStages: readonly EntryStage[] = ["waiting", "unsent", "refused"];

type NoteLine = Extract<Line, { kind: "note" }>;

/** Combines repeated failures in a turn into one line, at the first occurrence. */
function foldNotes(notes: Notes): NoteLine[] {
  const lines = new Map<string, NoteLine>();
  for (const note of notes) {
    const key = note.kind === "middleware" ? [note.runId, note.middleware, note.hook, note.error].join("\0") : note.id;
    const existing = lines.get(key);
    if (existing) existing.times++;
    else lines.set(key, { kind: "note", id: note.id, note, times: 1 });
  }
  return [...lines.values()];
}

/** The tools of a turn that have not returned a result yet. */
export function listPendingTools(entries: Entries, run: string | undefined): string[] {
  const calls = entries.flatMap((entry) => (entry.runId === run ? entry.calls : []));
  return [...new Set(calls.filter(({ result, abandoned }) => !result && !abandoned).map(({ name }) => name))];
}
