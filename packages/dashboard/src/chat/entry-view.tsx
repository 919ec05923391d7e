import type { Entry } from "@thinkery/sdk/react";
import { memo } from "react";
import { CallCard } from "./call-card.tsx";
import { FormattedText } from "./formatted-text.tsx";
import { TurnErrorView } from "./turn-error-view.tsx";

interface EntryProps {
  entry: Entry;
  agent: string;
  agency: string;
  /** Its turn waits for reports. */
  paused: boolean;
  /** How many messages go before this one while it waits. */
  ahead: number;
  /** The line is down, so what is unsent cannot be sent now. */
  offline: boolean;
  /** Where big results lie. */
  blobs: string;
  onCancel(runId: string | undefined): void;
  onTakeBack(id: string): void;
  onEdit(text: string): void;
}

const time = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

/** One message. Drawn again only when it has changed itself. */
export const EntryView = memo(function EntryView({
  entry,
  agent,
  agency,
  paused,
  ahead,
  offline,
  blobs,
  onCancel,
  onTakeBack,
  onEdit,
}: EntryProps) {
  const { role, stage, text, reasoning, calls, error } = entry;
  const bare = stage === "streaming" && text === "" && reasoning === "" && calls.length === 0;
  return (
    <article
      className="entry"
      data-role={role}
      data-stage={stage}
      data-message={entry.id}
      aria-busy={stage === "streaming" || undefined}
    >
      <h3 className="entry-who">
        {role === "user" ? "You" : agent}
        {entry.at > 0 && <time dateTime={new Date(entry.at).toISOString()}>{time.format(entry.at)}</time>}
      </h3>
      {reasoning && <Thoughts entry={entry} />}
      {text && <FormattedText text={text} />}
      {bare && (
        <p className="typing" aria-hidden="true">
          <span className="dot" data-busy />
        </p>
      )}
      {calls.map((call) => (
        <CallCard key={call.id} call={call} agency={agency} agent={agent} paused={paused} blobs={blobs} />
      ))}
      {error && <TurnErrorView error={error} refused={stage === "refused"} agency={agency} />}
      {role === "assistant" && stage === "canceled" && <p className="entry-note">Canceled here.</p>}
      {role === "user" && stage === "canceled" && <p className="entry-note">Canceled before its turn came.</p>}
      {stage === "unsent" && (
        <p className="entry-note">{offline ? "Not sent yet: it goes out when the host is back." : "Sending…"}</p>
      )}
      {stage === "waiting" && (
        <p className="entry-note">
          {ahead === 0
            ? "Next in line."
            : `Waits behind ${ahead === 1 ? "one other message" : `${ahead} other messages`}.`}{" "}
          {entry.runId && !offline && (
            <button type="button" className="text-button" onClick={() => onCancel(entry.runId)}>
              Take back
            </button>
          )}
        </p>
      )}
      {stage === "refused" && (
        <p className="entry-note">
          <button
            type="button"
            className="text-button"
            onClick={() => {
              onEdit(text);
              onTakeBack(entry.id);
            }}
          >
            Edit it
          </button>
        </p>
      )}
    </article>
  );
});

function Thoughts({ entry: { reasoning, reasoningSize, stage, text } }: { entry: Entry }) {
  const more = reasoningSize - reasoning.length;
  return (
    <details className="thoughts">
      <summary>{stage === "streaming" && text === "" ? "Thinking…" : "Thoughts"}</summary>
      <FormattedText text={reasoning} />
      {more > 0 && <p className="faint">{more.toLocaleString("en")} more characters were not kept.</p>}
    </details>
  );
}
