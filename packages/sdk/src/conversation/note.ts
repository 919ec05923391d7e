import { positionsPerEvent } from "../internal/event-position.ts";
import type { AgentEvent } from "../protocol/event.ts";
import type { ConversationUpdate, NoteContent } from "./update.ts";

/** Something that happened to the conversation, told between its messages. Its `seq` is a place among theirs. */
export type Note = { id: string; seq: number; at: number; runId: string } & NoteContent;

export type Notes = readonly Note[];

/** More than anybody reads; a middleware that fails at every step shall not fill the page's memory. */
const maxNotes = 500;

/** Adds the note in its place. Returns the same notes if it is among them. */
export function addNote(
  notes: Notes,
  { runId, note }: Extract<ConversationUpdate, { kind: "note" }>,
  { seq, ts }: Pick<AgentEvent, "seq" | "ts">,
): Notes {
  const place = seq * positionsPerEvent;
  const index = notes.findLastIndex((other) => other.seq <= place);
  if (notes[index]?.seq === place) return notes;
  const added: Note = { id: `note-${seq}`, seq: place, at: Date.parse(ts), runId, ...note };
  return [...notes.slice(0, index + 1), added, ...notes.slice(index + 1)].slice(-maxNotes);
}

/** Those that stand after the first message. */
export function dropEarlierNotes(notes: Notes, entries: readonly { seq?: number | undefined }[]): Notes {
  const first = entries.find(({ seq }) => seq !== undefined)?.seq ?? Number.POSITIVE_INFINITY;
  return notes.every(({ seq }) => seq > first) ? notes : notes.filter(({ seq }) => seq > first);
}
