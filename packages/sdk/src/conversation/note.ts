import type { AgentEvent } from "../protocol/event.ts";
import { placesPerEvent } from "../protocol/place.ts";

/** Something that happened to the conversation, told between its messages. Its `seq` is a place among theirs. */
export type Note = { id: string; seq: number; at: number; runId: string } & (
  | {
      kind: "compaction";
      /** How much of the model's context was taken before and after it, in tokens. */
      before: number;
      after: number;
      summary?: string | undefined;
    }
  | { kind: "middleware"; middleware: string; hook: string; error: string }
);

export type Notes = readonly Note[];

/** More than anybody reads; a middleware that fails at every step shall not fill the page's memory. */
const most = 500;

/** What a reader should be told of an event that is no message. */
function noteOf(event: AgentEvent): Note | undefined {
  const base = { id: `note-${event.seq}`, seq: event.seq * placesPerEvent, at: Date.parse(event.ts) };
  switch (event.type) {
    case "context.compacted": {
      const { runId, before, after, summary } = event.data;
      return { ...base, kind: "compaction", runId, before, after, summary };
    }
    case "middleware.failed": {
      const { runId, middlewareName: middleware, hook, error } = event.data;
      return { ...base, kind: "middleware", runId, middleware, hook, error };
    }
    default:
      return undefined;
  }
}

/** The notes with what is to be told of this event; the same ones, where there is nothing to tell or it was told. */
export function noted(notes: Notes, event: AgentEvent): Notes {
  const note = noteOf(event);
  if (!note) return notes;
  const index = notes.findLastIndex(({ seq }) => seq <= note.seq);
  if (notes[index]?.seq === note.seq) return notes;
  return [...notes.slice(0, index + 1), note, ...notes.slice(index + 1)].slice(-most);
}

/** Those that stand after the first message. */
export function within(notes: Notes, entries: readonly { seq?: number | undefined }[]): Notes {
  const first = entries.find(({ seq }) => seq !== undefined)?.seq ?? Number.POSITIVE_INFINITY;
  return notes.every(({ seq }) => seq > first) ? notes : notes.filter(({ seq }) => seq > first);
}
