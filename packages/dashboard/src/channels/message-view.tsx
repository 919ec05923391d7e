import type { ChannelMessage } from "@thinkery/sdk";
import { memo, useState } from "react";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { announce } from "../frame/announce.tsx";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { formatCount } from "../parts/amount.ts";
import { HostLink } from "../parts/host-link.tsx";
import { Icon } from "../parts/icon.tsx";
import { splitMentions } from "../team/mentions.ts";
import { useChannels } from "./channels-context.ts";
import { MentionText } from "./message-text.tsx";

const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "full" });
const fullFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

interface MessageViewProps {
  message: ChannelMessage;
  /** Whether the author is shown; otherwise the message continues the one above. */
  isFirst: boolean;
  /** Whether the address names it. */
  isTarget: boolean;
  /** Whether it is shown in its thread. */
  isInThread: boolean;
  /** The message that it answers, if that is shown too. */
  answered?: ChannelMessage | undefined;
}

/** One message. Memoized: a channel shows hundreds of them. */
export const MessageView = memo(function MessageView(props: MessageViewProps) {
  const { message, isFirst, isTarget, isInThread, answered } = props;
  const { to } = useChannels();
  const { id, channel, from, fromKind, content, thread, replies, priority } = message;
  if (fromKind === "host") return <HostNotice message={message} isTarget={isTarget} isInThread={isInThread} />;
  return (
    <article
      className="message"
      data-row={id}
      data-first={isFirst || undefined}
      data-target={isTarget || undefined}
      data-by={fromKind}
      aria-label={`${from}, ${timeFormat.format(new Date(message.createdAt))}`}
    >
      {isFirst ? <Author message={message} /> : <MessageTime message={message} />}
      <div className="message-body">
        {thread !== undefined && !isInThread && isFirst && (
          <p className="message-answers">
            <Link href={to({ channel, thread })}>
              <Icon name="reply" />
              <span>{answered ? summarizeMessage(answered) : `Answers ${thread}`}</span>
            </Link>
          </p>
        )}
        {priority !== undefined && priority !== "normal" && (
          <p className="message-priority" data-priority={priority}>
            {priority} priority
          </p>
        )}
        <MessageContent text={content} />
        <WholeMessage message={message} />
        <Recipients message={message} />
        {replies !== undefined && replies > 0 && !isInThread && (
          <p className="message-replies">
            <Link href={to({ channel, thread: id })}>{formatCount(replies, "reply", "replies")}</Link>
          </p>
        )}
      </div>
      <MessageActions message={message} isInThread={isInThread} />
    </article>
  );
});

const maxSummaryChars = 120;

function summarizeMessage({ from, content }: ChannelMessage): string {
  return `${from}: ${sanitizeText(content.trim().slice(0, maxSummaryChars)).replace(/\s+/g, " ")}`;
}

function Author({ message: { from, fromKind, createdAt, ...message } }: { message: ChannelMessage }) {
  const { agency, agents, user } = useChannels();
  const name = fromKind === "user" && from === user ? "You" : sanitizeText(from);
  return (
    <h3 className="message-author">
      <span className="message-icon" data-by={fromKind}>
        <Icon name={fromKind === "agent" ? "agent" : "person"} />
      </span>
      {fromKind === "agent" && agents.has(from) ? <Link href={buildPath(agency, from)}>{name}</Link> : name}
      <MessageTime message={{ from, fromKind, createdAt, ...message }} />
    </h3>
  );
}

/** Longer messages are shown on demand, so that one does not hide all others. */
const maxShownChars = 6000;

function MessageContent({ text }: { text: string }) {
  const [isWhole, showWhole] = useState(false);
  if (isWhole || text.length <= maxShownChars * 1.25) return <MentionText text={text} />;
  return (
    <>
      <MentionText text={`${text.slice(0, maxShownChars)}…`} />
      <p>
        <button type="button" className="text-button" onClick={() => showWhole(true)}>
          Show {formatCount(text.length - maxShownChars, "more character", "more characters")}
        </button>
      </p>
    </>
  );
}

/** The time links to the message itself. */
function MessageTime({ message: { id, channel, createdAt } }: { message: ChannelMessage }) {
  const { to } = useChannels();
  const date = new Date(createdAt);
  return (
    <Link className="message-time" href={to({ channel, message: id })} title={`${fullFormat.format(date)} · ${id}`}>
      <time dateTime={createdAt}>{timeFormat.format(date)}</time>
    </Link>
  );
}

/** Agents that get the message without being mentioned in it. */
function Recipients({ message: { channel, to, content } }: { message: ChannelMessage }) {
  const { agency, agents, team } = useChannels();
  const mentioned = new Set(splitMentions(content, agents).map(({ name }) => name));
  const others = to.filter((name) => !mentioned.has(name));
  const { kind } = team.channels.get().value?.items.find(({ name }) => name === channel) ?? {};
  if (others.length === 0 || kind === "direct") return null;
  return (
    <p className="message-to">
      To{" "}
      {others.map((name, index) => (
        <span key={name}>
          {index > 0 && ", "}
          {agents.has(name) ? <Link href={buildPath(agency, name)}>{name}</Link> : sanitizeText(name)}
        </span>
      ))}
    </p>
  );
}

/** A link to a message that is too long to be shown. */
function WholeMessage({ message: { resource, size } }: { message: ChannelMessage }) {
  const { agency } = useChannels();
  if (resource === undefined) return null;
  return (
    <p className="message-whole">
      <HostLink href={`/agency/${encodeURIComponent(agency)}/resources/${encodeURIComponent(resource)}`} newTab>
        <Icon name="file" /> Open the whole message
      </HostLink>
      {size !== undefined && <span className="faint"> {formatCount(size, "character")}</span>}
    </p>
  );
}

function MessageActions({
  message: { id, channel, thread, from },
  isInThread,
}: Pick<MessageViewProps, "message" | "isInThread">) {
  const { to } = useChannels();
  const copyLink = async () => {
    try {
      await navigator.clipboard.writeText(new URL(to({ channel, message: id }), window.location.href).href);
      announce("Link copied.");
    } catch {
      announce("The browser does not allow copying here.");
    }
  };
  return (
    <div className="message-actions">
      {!isInThread && (
        <Link
          className="icon-button"
          href={to({ channel, thread: thread ?? id })}
          aria-label={`Reply to ${from} in a thread`}
          title="Reply in a thread"
        >
          <Icon name="reply" />
        </Link>
      )}
      <button
        type="button"
        className="icon-button"
        aria-label={`Copy the link to the message of ${from}`}
        title="Copy link"
        onClick={() => void copyLink()}
      >
        <Icon name="link" />
      </button>
    </div>
  );
}

/** What the host itself has to say, such as a message that nobody could handle. */
function HostNotice({ message, isTarget, isInThread }: Omit<MessageViewProps, "isFirst">) {
  const { to } = useChannels();
  return (
    <aside className="note message-notice" data-row={message.id} data-target={isTarget || undefined}>
      <Icon name="warning" />
      <div>
        <MentionText text={message.content} />
        <WholeMessage message={message} />
        <p className="faint">
          From the host, <MessageTime message={message} />
          {message.thread !== undefined && !isInThread && (
            <>
              {" · "}
              <Link href={to({ channel: message.channel, thread: message.thread })}>About {message.thread}</Link>
            </>
          )}
        </p>
      </div>
    </aside>
  );
}

export function DayRow({ at }: { at: string }) {
  return (
    <h3 className="message-day">
      <span>{dayFormat.format(new Date(at))}</span>
    </h3>
  );
}
