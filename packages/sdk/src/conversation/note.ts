import { positionsPerEvent } from "../internal/event-position.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { ConversationUpdate, NoteContent } from "./update.ts";

/** Something that happened between two messages. Its `seq` is a position among theirs. */
export type Note = { id: string; seq: number; at: number; runId: string } & NoteContent;

export type Notes = readonly Note[];

/** More than anyone reads. Bounds the memory of the page if a middleware fails at every step. */
const maxNotes = 500;

/** Adds a note in its place. Returns the same list if the note is already in it. */
export function addNote(
  notes: Notes,
  { runId, note }: Extract<ConversationUpdate, { kind: "note" }>,
  { seq, ts }: Pick<AgentEvent, "seq" | "ts">,
): Notes {
  const position = seq * positionsPerEvent;
  const index = notes.findLastIndex((other) => other.seq <= position);
  if (notes[index]?.seq === position) return notes;
  const added: Note = { id: `note-${seq}`, seq: position, at: Date.parse(ts), runId, ...note };
  return [...notes.slice(0, index + 1), added, ...notes.slice(index + 1)].slice(-maxNotes);
}

/** Drops the notes before the first message. */
export function dropEarlierNotes(notes: Notes, entries: readonly { seq?: number | undefined }[]): Notes {
  const first = entries.find(({ seq }) => seq !== undefined)?.seq ?? Number.POSITIVE_INFINITY;
  return notes.every(({ seq }) => seq > first) ? notes : notes.filter(({ seq }) => seq > first);
}
