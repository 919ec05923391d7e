import type { Note } from "@thinkery/sdk/react";
import { memo } from "react";
import { formatNumber } from "../parts/amount.ts";
import { Icon } from "../parts/icon.tsx";
import { showControlChars } from "./blocks.ts";
import { FormattedText } from "./formatted-text.tsx";

/** An event between two messages. */
export const NoteView = memo(function NoteView({ note, times }: { note: Note; times: number }) {
  return note.kind === "compaction" ? <Compaction note={note} /> : <Failure note={note} times={times} />;
});

function Compaction({ note }: { note: Extract<Note, { kind: "compaction" }> }) {
  return (
    <aside className="note" data-note="compaction">
      <Icon name="fold" />
      <div>
        <p>{describeCompaction(note)}</p>
        {note.summary !== undefined && (
          <details>
            <summary>Summary</summary>
            <FormattedText text={note.summary} />
            <p className="faint">All messages are still here; only the model sees the summary instead.</p>
          </details>
        )}
      </div>
    </aside>
  );
}

function Failure({ note, times }: { note: Extract<Note, { kind: "middleware" }>; times: number }) {
  return (
    <aside className="note" data-note="middleware" data-tone="warn">
      <Icon name="warning" />
      <div>
        <p>
          Middleware <code>{note.middleware}</code> failed in <code>{note.hook}</code>
          {times > 1 && ` (${times} times in this turn)`}: {showControlChars(note.error)}
        </p>
        <p className="faint">Its changes were undone and the turn continued without it.</p>
      </div>
    </aside>
  );
}

/** A turn that is paused until results are reported. */
export function PauseView({ waitsFor }: { waitsFor: string[] }) {
  return (
    <aside className="note" data-note="pause" data-tone="warn">
      <Icon name="hourglass" />
      <div>
        <p>
          Turn paused, waiting for the result of{" "}
          {waitsFor.map((name, index) => (
            <span key={name}>
              {index > 0 && (index === waitsFor.length - 1 ? " and " : ", ")}
              <code>{name}</code>
            </span>
          ))}
          .
        </p>
        <p className="faint">It continues automatically once all results are reported.</p>
      </div>
    </aside>
  );
}

/** Announces notes to screen readers. A separate live region, so that the next reply does not interrupt them. */
export function NoteAnnouncer({ note }: { note: Note | undefined }) {
  return (
    <p className="visually-hidden" role="status">
      {note &&
        (note.kind === "compaction"
          ? describeCompaction(note)
          : `Middleware ${note.middleware} failed in ${note.hook}: ${note.error}`)}
    </p>
  );
}

function describeCompaction({ before, after, summary }: Extract<Note, { kind: "compaction" }>): string {
  const text =
    summary === undefined ? "Long tool results shortened for the model" : "Older messages summarized for the model";
  return `${text}: ${formatNumber(before)} → ${formatNumber(after)} tokens`;
}
