import type { MessageRow } from "./context-store.ts";
import { isDirectChannel } from "./direct-channel.ts";
import { formatMessageId } from "./message-id.ts";

/** Formats messages as the input of one turn: each has a line that says where it comes from, then its text verbatim. */
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
  if (resource === undefined) return content;
  return `${content}\n(The first part of ${size} characters. Read all of it with resource_read {"id": "${resource}"}.)`;
}
