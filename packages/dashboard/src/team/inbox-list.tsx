import type { InboxItem } from "@thinkery/sdk";
import { call } from "../api/host.ts";
import { useHasScope } from "../api/login.ts";
import { useSource } from "../api/source.ts";
import type { Team } from "../api/team/team.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Link } from "../frame/link.tsx";
import { buildChannelPath } from "../frame/navigation.ts";
import { formatCount } from "../parts/amount.ts";
import { DateTime, useNow } from "../parts/date-time.tsx";
import { formatUntil } from "../parts/duration.ts";
import { Notice } from "../parts/notice.tsx";
import { useChange } from "../parts/use-change.tsx";

interface InboxListProps {
  team: Team;
  agent: string;
  /** Only what was given up. */
  isGivenUpOnly?: boolean;
}

/** What an agent has to handle, and what was given up, with ways to go on. */
export function InboxList({ team, agent, isGivenUpOnly = false }: InboxListProps) {
  const inbox = team.getInbox(agent);
  const { value, error } = useSource(inbox);
  const items = value?.filter(({ status }) => !isGivenUpOnly || status === "given_up") ?? [];
  const givenUp = items.filter(({ status }) => status === "given_up");

  const { change, failureNotice } = useChange(() => inbox.reload());
  const params = { agency: team.agency, agent };
  const retry = (ids: string[]) =>
    void change(
      () => call("retryInbox", { params, body: { ids } }),
      `${agent} gets ${formatCount(ids.length, "message")} again.`,
    );
  const ack = (ids: string[]) =>
    void change(
      () => call("ackInbox", { params, body: { ids } }),
      `${formatCount(ids.length, "message")} acknowledged.`,
    );
  const canChange = useHasScope("chat", team.agency);

  if (!value) {
    if (!error) return <p className="faint">Loading…</p>;
    return (
      <Notice tone="bad" title="Failed to load the inbox" onRetry={() => void inbox.reload()}>
        {error.message}
      </Notice>
    );
  }
  return (
    <>
      {failureNotice}
      {items.length === 0 && <p className="faint">{isGivenUpOnly ? "Nothing was given up." : "Nothing to handle."}</p>}
      <ul className="inbox-list" aria-label={`Inbox of ${agent}`}>
        {items.map((item) => (
          <ItemRow
            key={item.id}
            agency={team.agency}
            item={item}
            onRetry={canChange ? () => retry([item.id]) : undefined}
            onAck={canChange ? () => ack([item.id]) : undefined}
          />
        ))}
      </ul>
      {canChange && givenUp.length > 1 && (
        <p className="task-actions">
          <button type="button" className="text-button" onClick={() => retry(givenUp.map(({ id }) => id))}>
            Try all again
          </button>
          <button type="button" className="text-button" onClick={() => ack(givenUp.map(({ id }) => id))}>
            Acknowledge all
          </button>
        </p>
      )}
    </>
  );
}

const statusWords: Record<InboxItem["status"], string> = {
  pending: "waiting",
  seen: "being handled",
  deferred: "put off",
  acked: "handled",
  given_up: "given up",
};

const maxShownChars = 240;

interface ItemRowProps {
  agency: string;
  item: InboxItem;
  onRetry: (() => void) | undefined;
  onAck: (() => void) | undefined;
}

function ItemRow({ agency, item, onRetry, onAck }: ItemRowProps) {
  const { id, channel, from, content, status, error, attempts, dueAt, priority, createdAt } = item;
  const text = content.trim();
  return (
    <li data-status={status}>
      <p className="inbox-facts">
        <strong>{sanitizeText(from)}</strong>{" "}
        <Link href={buildChannelPath(agency, { channel, message: id })}>
          {id}
          <span className="visually-hidden"> in {channel}</span>
        </Link>{" "}
        <DateTime at={createdAt} short />
        {priority !== "normal" && ` · ${priority} priority`}
      </p>
      <p className="inbox-text">
        {sanitizeText(text.slice(0, maxShownChars))}
        {text.length > maxShownChars && "…"}
      </p>
      <p className="inbox-status">
        {statusWords[status]}
        {status === "given_up" && attempts > 0 && ` after ${formatCount(attempts, "attempt")}`}
        {status !== "given_up" && dueAt !== undefined && <Due at={dueAt} />}
        {error !== undefined && `: ${sanitizeText(error)}`}
      </p>
      {(onRetry ?? onAck) && (
        <p className="task-actions">
          {status !== "seen" && (status === "given_up" || dueAt !== undefined) && (
            <button type="button" className="text-button" onClick={onRetry}>
              {status === "given_up" ? "Try again" : "Now"}
            </button>
          )}
          <button type="button" className="text-button" onClick={onAck}>
            Acknowledge
          </button>
        </p>
      )}
    </li>
  );
}

function Due({ at }: { at: string }) {
  const now = useNow(10_000);
  return <>, comes again {formatUntil(Date.parse(at) - now)}</>;
}
