import type { MessageRow } from "./context-store.ts";
import { isDirectChannel } from "./direct-channel.ts";
import { formatMessageId } from "./message-id.ts";

// What a model could take for the beginning of another message, perhaps of its owner.
const headerLikePattern = /^(?=\\*[^\S\r\n\u2028\u2029]*\[msg-\d+ from )/gim;

/**
 * Formats messages as the input of one turn: each has a line that says where it comes from, then its text verbatim. Only
 * lines that look like that one get a backslash.
 */
export function formatDelivery(messages: readonly MessageRow[]): string {
  return messages.map((message) => `[${describe(message)}]\n${formatContent(message)}`).join("\n\n");
}

// Parsed by `parseDelivery` in the sdk. The place is what `channel_send` needs to answer there.
function describe({ number, from, channel, thread }: MessageRow): string {
  const place = isDirectChannel(channel) ? `@${from}` : `#${channel}`;
  const inThread = thread === undefined ? "" : `, thread ${formatMessageId(thread)}`;
  return `${formatMessageId(number)} from ${from} in ${place}${inThread}`;
}

function formatContent({ content, resource, size }: MessageRow): string {
  const text = content.replace(headerLikePattern, "\\");
  if (resource === undefined) return text;
  return `${text}\n(The first part of ${size} characters. Read all of it with resource_read {"id": "${resource}"}.)`;
}
