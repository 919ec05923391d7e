import type { ChannelMessage } from "@thinkery/sdk";

/** A row of a channel, from top to bottom. */
export type MessageRow =
  | { kind: "day"; id: string; at: string }
  /** Everything below it is new to the reader. */
  | { kind: "unread"; id: "unread" }
  /** `isFirst`: the author is shown; otherwise the message continues the one above. */
  | { kind: "message"; id: string; message: ChannelMessage; isFirst: boolean };

/** Messages of one author within this time are shown as a group. */
const maxPauseMs = 5 * 60_000;

/** `unreadAfter` is the last message that the reader had seen. */
export function buildRows(messages: readonly ChannelMessage[], unreadAfter?: string): MessageRow[] {
  const rows: MessageRow[] = [];
  let previous: ChannelMessage | undefined;
  for (const message of messages) {
    const isNewDay = !previous || toDay(previous.createdAt) !== toDay(message.createdAt);
    if (isNewDay) rows.push({ kind: "day", id: `day-${message.id}`, at: message.createdAt });
    const isUnread = unreadAfter !== undefined && previous?.id === unreadAfter;
    if (isUnread) rows.push({ kind: "unread", id: "unread" });
    const isFirst = isNewDay || isUnread || !previous || !isContinued(previous, message);
    rows.push({ kind: "message", id: message.id, message, isFirst });
    previous = message;
  }
  return rows;
}

/** Host notices are never part of a group, and neither are messages that answer different ones. */
function isContinued(one: ChannelMessage, next: ChannelMessage): boolean {
  if (one.from !== next.from || one.fromKind !== next.fromKind || next.fromKind === "host") return false;
  if (one.thread !== next.thread) return false;
  return Date.parse(next.createdAt) - Date.parse(one.createdAt) < maxPauseMs;
}

/** The day where the reader is. */
function toDay(at: string): string {
  return new Date(at).toDateString();
}
