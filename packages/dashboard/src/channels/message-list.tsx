import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useStore } from "../api/store.ts";
import type { MessageLog } from "../api/team/message-log.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { announce } from "../frame/announce.tsx";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { buildRows } from "../team/message-rows.ts";
import { countUnread, useReadMarks } from "../team/unread.ts";
import { useChannels } from "./channels-context.ts";
import { DayRow, MessageView } from "./message-view.tsx";
import { PendingView } from "./pending-view.tsx";
import { useMessageScroll } from "./use-message-scroll.ts";

interface MessageListProps {
  log: MessageLog;
  channel: string;
  /** The thread whose messages these are; undefined for a whole channel. */
  thread?: string | undefined;
  /** The message to show first. */
  target?: string | undefined;
  /** Called when the reader reaches or leaves the latest message. */
  onEnd?(isAtEnd: boolean): void;
  empty: ReactNode;
}

/** The messages of a channel or a thread. Only the pages around the reader are in the document. */
export function MessageList({ log: initial, channel, thread, target, onEnd, empty }: MessageListProps) {
  // A log that was opened at a message is not found again, so it must stay the same.
  const [log] = useState(initial);
  const state = useStore(log);
  const { messages, hasOlder, hasNewer, at, loading, error } = state;
  const { team, canWrite } = useChannels();
  const pending = useStore(team.getOutbox(channel, thread));
  const unreadAfter = useUnreadAfter(channel, state, thread === undefined && target === undefined);
  const rows = useMemo(() => buildRows(messages, unreadAfter), [messages, unreadAfter]);
  const byId = useMemo(() => new Map(messages.map((message) => [message.id, message])), [messages]);
  const { scroller, isAtEnd, onScroll, scrollToEnd } = useMessageScroll({
    log,
    messages,
    target: target ?? (unreadAfter === undefined ? undefined : "unread"),
    pendingCount: pending.length,
  });
  const isAtLatest = at !== undefined && isAtEnd && !hasNewer;

  useEffect(() => onEnd?.(isAtLatest), [onEnd, isAtLatest]);
  useAnnounceNew(state, channel);

  return (
    <div className="message-frame">
      <div
        ref={scroller}
        className="message-scroll"
        role="log"
        aria-live="off"
        aria-label={thread === undefined ? "Messages" : "Replies"}
        aria-busy={loading !== undefined || undefined}
        tabIndex={0}
        onScroll={onScroll}
      >
        <div className="message-list">
          {error && (
            <Notice
              tone={at === undefined ? "bad" : "warn"}
              title="Failed to load messages"
              onRetry={() => void log.retry()}
            >
              {error.message}
            </Notice>
          )}
          {at === undefined && !error && <p className="faint">Loading…</p>}
          {at !== undefined && !hasOlder && messages.length > 0 && thread === undefined && (
            <p className="message-start faint">The beginning of this channel</p>
          )}
          {hasOlder && <p className="message-start faint">{loading === "older" ? "Loading older messages…" : "…"}</p>}
          {at !== undefined && messages.length === 0 && pending.length === 0 && !error && empty}
          {rows.map((row) =>
            row.kind === "day" ? (
              <DayRow key={row.id} at={row.at} />
            ) : row.kind === "unread" ? (
              <p key={row.id} className="message-unread" data-row="unread">
                New
              </p>
            ) : (
              <MessageView
                key={row.id}
                message={row.message}
                isFirst={row.isFirst}
                isTarget={row.id === target}
                isInThread={thread !== undefined}
                answered={byId.get(row.message.thread ?? "")}
              />
            ),
          )}
          {!hasNewer &&
            pending.map((one) => (
              <PendingView key={one.key} pending={one} channel={channel} thread={thread} canWrite={canWrite} />
            ))}
          {hasNewer && <p className="message-start faint">{loading === "newer" ? "Loading newer messages…" : "…"}</p>}
        </div>
      </div>
      {at !== undefined && !isAtLatest && messages.length > 0 && (
        <button
          type="button"
          className="to-end"
          onClick={() => (hasNewer ? void log.showLatest().then(scrollToEnd) : scrollToEnd())}
        >
          <Icon name="down" /> Latest
        </button>
      )}
    </div>
  );
}

/** The last message that had been read when the channel was opened, if it is among those loaded first. */
function useUnreadAfter(
  channel: string,
  { messages, at, hasNewer }: ReturnType<MessageLog["get"]>,
  isNeeded: boolean,
): string | undefined {
  const { user, agency, team } = useChannels();
  const marks = useReadMarks(user, agency);
  const found = useRef<{ id: string | undefined }>(undefined);
  if (isNeeded && !found.current && at !== undefined && !hasNewer) {
    const listed = team.channels.get().value?.items.find(({ name }) => name === channel);
    const unread = listed ? countUnread(marks, listed) : 0;
    found.current = { id: unread > 0 ? messages.at(-unread - 1)?.id : undefined };
  }
  return found.current?.id;
}

const maxAnnouncedChars = 300;

/** Announces messages that arrive while the channel is open, except the reader's own. */
function useAnnounceNew({ messages, at, hasNewer }: ReturnType<MessageLog["get"]>, channel: string): void {
  const { user } = useChannels();
  const last = useRef<string>(undefined);
  const latest = messages.at(-1);
  useEffect(() => {
    const before = last.current;
    last.current = latest?.id;
    if (at === undefined || hasNewer || before === undefined || !latest || latest.id === before) return;
    if (latest.fromKind === "user" && latest.from === user) return;
    announce(`${latest.from}: ${sanitizeText(latest.content.slice(0, maxAnnouncedChars))}`);
  }, [at, hasNewer, latest, user, channel]);
}
