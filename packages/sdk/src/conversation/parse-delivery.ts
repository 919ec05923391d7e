/** A message of a channel, as its recipient got it. */
export interface DeliveredMessage {
  id: string;
  from: string;
  /** The channel's name, without the `#` before it. Direct channels begin with `@`. */
  channel: string;
  thread?: string;
  content: string;
}

const headerPattern =
  /^\[(msg-\d{1,15}) from ([A-Za-z0-9][\w.-]{0,63}) in (?:#([A-Za-z0-9][\w.-]{0,63})|(@[\w.@+~-]{1,140}))(?:, thread (msg-\d{1,15}))?\]$/;

/** A line of a content that looks like a header was given a backslash. */
const quotedPattern = /^\\(?=\\*[^\S\r\n\u2028\u2029]*\[msg-\d+ from )/gim;

/**
 * Parses the message of a turn that handles an agent's inbox: a line such as `[msg-7 from bob in #general]` before each
 * message, and a blank line between them. Returns undefined if it is any other message.
 */
export function parseDelivery(text: string): DeliveredMessage[] | undefined {
  const lines = text.split("\n");
  const messages: (Omit<DeliveredMessage, "content"> & { lines: string[] })[] = [];
  for (const [index, line] of lines.entries()) {
    const header = index === 0 || lines[index - 1] === "" ? parseHeader(line) : undefined;
    if (header) {
      // The blank line before a header separates the messages.
      if (index > 0) messages.at(-1)?.lines.pop();
      messages.push({ ...header, lines: [] });
    } else if (index === 0) return undefined;
    else messages.at(-1)?.lines.push(line);
  }
  return messages.map(({ lines: content, ...message }) => ({
    ...message,
    content: content.join("\n").replace(quotedPattern, ""),
  }));
}

function parseHeader(line: string): Omit<DeliveredMessage, "content"> | undefined {
  const match = headerPattern.exec(line);
  if (!match) return undefined;
  const [, id = "", from = "", named, direct = "", thread] = match;
  return { id, from, channel: named ?? direct, ...(thread === undefined ? {} : { thread }) };
}
