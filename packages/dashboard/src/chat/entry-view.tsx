import { parseDelivery } from "@thinkery/sdk";
import type { Entry } from "@thinkery/sdk/react";
import { memo, useMemo } from "react";
import { getAgentName } from "../api/agent-path.ts";
import { formatCount } from "../parts/amount.ts";
import { CallWaits } from "../waits/call-waits.tsx";
import { CallCard } from "./call-card.tsx";
import { DeliveryView, listSenders } from "./delivery-view.tsx";
import { FormattedText } from "./formatted-text.tsx";
import { TurnErrorView } from "./turn-error-view.tsx";

interface EntryProps {
  entry: Entry;
  /** Who wrote it, if the agent did not. */
  sender: string;
  agent: string;
  agency: string;
  /** Whether its turn waits for results reported later. */
  paused: boolean;
  /** Number of queued messages before this one. */
  ahead: number;
  /** Whether the connection is down, so that messages cannot be sent now. */
  offline: boolean;
  /** URL of the folder with the full text of long results. */
  blobs: string;
  onCancel(runId: string | undefined): void;
  onUnsend(id: string): void;
  onEdit(text: string): void;
}

const time = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });

/** One message. Memoized: only rerendered if the message itself changes. */
export const EntryView = memo(function EntryView({
  entry,
  sender,
  agent,
  agency,
  paused,
  ahead,
  offline,
  blobs,
  onCancel,
  onUnsend,
  onEdit,
}: EntryProps) {
  const { role, stage, text, reasoning, calls, error } = entry;
  const delivery = useMemo(() => (role === "user" ? parseDelivery(text) : undefined), [role, text]);
  const isEmpty = stage === "streaming" && text === "" && reasoning === "" && calls.length === 0;
  return (
    <article
      className="entry"
      data-role={role}
      data-stage={stage}
      data-message={entry.id}
      data-delivery={delivery ? true : undefined}
      aria-busy={stage === "streaming" || undefined}
    >
      <h3 className="entry-who">
        {delivery ? listSenders(delivery) : role === "user" ? sender : getAgentName(agent)}
        {entry.at > 0 && <time dateTime={new Date(entry.at).toISOString()}>{time.format(entry.at)}</time>}
      </h3>
      {reasoning && <Thoughts entry={entry} />}
      {delivery ? (
        <DeliveryView agency={agency} agent={agent} messages={delivery} />
      ) : (
        text.trim() !== "" && <FormattedText text={text} />
      )}
      {isEmpty && (
        <p className="typing" aria-hidden="true">
          <span className="dot" data-busy />
        </p>
      )}
      {calls.map((call) => (
        <CallCard key={call.id} call={call} agency={agency} agent={agent} paused={paused} blobs={blobs} />
      ))}
      {calls.length > 0 && <CallWaits calls={calls} />}
      {error && <TurnErrorView error={error} refused={stage === "refused"} agency={agency} />}
      {role === "assistant" && stage === "canceled" && <p className="entry-note">Canceled</p>}
      {role === "user" && stage === "canceled" && <p className="entry-note">Canceled before it started</p>}
      {stage === "unsent" && (
        <p className="entry-note">{offline ? "Not sent. Will be sent when the host is back." : "Sending…"}</p>
      )}
      {stage === "waiting" && (
        <p className="entry-note">
          {ahead === 0 ? "Next in queue" : `Queued behind ${formatCount(ahead, "message")}`}{" "}
          {entry.runId && !offline && (
            <button type="button" className="text-button" onClick={() => onCancel(entry.runId)}>
              Remove
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
              onUnsend(entry.id);
            }}
          >
            Edit
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
      {more > 0 && <p className="faint">{more.toLocaleString("en")} more characters were not stored</p>}
    </details>
  );
}
