import type { ChannelMessage } from "@thinkery/sdk";

/** A part of a channel without gaps, oldest first. */
export interface MessagePages {
  messages: readonly ChannelMessage[];
  /** Whether there are messages before or after these. */
  hasOlder: boolean;
  hasNewer: boolean;
}

/** At most so many messages are shown at once. */
const maxMessages = 400;

/** The number of `msg-7` is 7. Later messages have higher numbers. */
export function getMessageNumber(id: string): number {
  return Number(/\d+$/.exec(id)?.[0] ?? 0);
}

/** Adds the page before these messages, and drops the newest if there are too many. */
export function prependPage(pages: MessagePages, page: readonly ChannelMessage[], hasOlder: boolean): MessagePages {
  const messages = mergeMessages(page, pages.messages);
  const kept = messages.slice(0, maxMessages);
  return { messages: kept, hasOlder, hasNewer: pages.hasNewer || kept.length < messages.length };
}

/** Adds the page after these messages, and drops the oldest if there are too many. */
export function appendPage(pages: MessagePages, page: readonly ChannelMessage[], hasNewer: boolean): MessagePages {
  const messages = mergeMessages(pages.messages, page);
  const kept = messages.slice(-maxMessages);
  return { messages: kept, hasOlder: pages.hasOlder || kept.length < messages.length, hasNewer };
}

/** The newest page of a channel, after a time in which messages may have been missed. */
export function mergeNewest(pages: MessagePages, newest: MessagePages): MessagePages {
  if (pages.hasNewer) return pages;
  const [first] = newest.messages;
  const last = pages.messages.at(-1);
  const isGap = first && last && getMessageNumber(first.id) > getMessageNumber(last.id) && newest.hasOlder;
  if (isGap || pages.messages.length === 0) return newest;
  return appendPage(pages, newest.messages, false);
}

/** Adds a message that was just posted, or replaces it. Returns the same pages if it is not one of these. */
export function addMessage(pages: MessagePages, message: ChannelMessage): MessagePages {
  const { messages, hasNewer } = pages;
  const known = messages.findIndex(({ id }) => id === message.id);
  if (known >= 0) return { ...pages, messages: messages.with(known, message) };
  const first = messages[0];
  if (hasNewer || (first && getMessageNumber(message.id) < getMessageNumber(first.id))) return pages;
  return countReply(appendPage(pages, [message], false), message);
}

/** Counts the reply at the message that it answers, unless the host already has. */
function countReply(pages: MessagePages, { thread }: ChannelMessage): MessagePages {
  if (thread === undefined) return pages;
  const index = pages.messages.findIndex(({ id }) => id === thread);
  const answered = pages.messages[index];
  if (!answered) return pages;
  return {
    ...pages,
    messages: pages.messages.with(index, { ...answered, replies: (answered.replies ?? 0) + 1 }),
  };
}

/** Both lists in the order of their ids, each message once. The later list wins. */
function mergeMessages(one: readonly ChannelMessage[], other: readonly ChannelMessage[]): ChannelMessage[] {
  const byId = new Map([...one, ...other].map((message) => [message.id, message]));
  return [...byId.values()].sort((a, b) => getMessageNumber(a.id) - getMessageNumber(b.id));
}
