import type { Note } from "@thinkery/sdk/react";
import { memo } from "react";
import { formatNumber } from "../parts/amount.ts";
import { Icon } from "../parts/icon.tsx";
import { showControlChars } from "./blocks.ts";
import { FormattedText } from "./formatted-text.tsx";

/** What happened between two messages. */
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
            <summary>What it reads instead</summary>
            <FormattedText text={note.summary} />
            <p className="faint">Every message is still here to be read; only the model is told less.</p>
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
          The middleware <code>{note.middleware}</code> failed in <code>{note.hook}</code>
          {times > 1 && `, ${times} times in this turn`}: {showControlChars(note.error)}
        </p>
        <p className="faint">What it had changed was undone, and the turn went on without it.</p>
      </div>
    </aside>
  );
}

/** A turn that has stopped until somebody reports. */
export function PauseView({ waitsFor }: { waitsFor: string[] }) {
  return (
    <aside className="note" data-note="pause" data-tone="warn">
      <Icon name="hourglass" />
      <div>
        <p>
          The turn waits for the answer of{" "}
          {waitsFor.map((name, index) => (
            <span key={name}>
              {index > 0 && (index === waitsFor.length - 1 ? " and " : ", ")}
              <code>{name}</code>
            </span>
          ))}
          .
        </p>
        <p className="faint">It goes on by itself when that is reported. Nothing is lost meanwhile.</p>
      </div>
    </aside>
  );
}

/** Says what happens to people who hear the page, with a voice of its own: the answer that follows does not cut it off. */
export function SpokenNote({ note }: { note: Note | undefined }) {
  return (
    <p className="unseen" role="status">
      {note &&
        (note.kind === "compaction"
          ? describeCompaction(note)
          : `The middleware ${note.middleware} failed in ${note.hook}: ${note.error}`)}
    </p>
  );
}

function describeCompaction({ before, after, summary }: Extract<Note, { kind: "compaction" }>): string {
  const what =
    summary === undefined
      ? "Long results of tools were shortened for the model"
      : "Old messages were summed up for the model";
  return `${what}: ${formatNumber(before)} → ${formatNumber(after)} tokens.`;
}
