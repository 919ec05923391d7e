import type { MessageRow } from "./context-store.ts";
import { formatMessageId } from "./message-id.ts";

/** Formats messages as the input of one turn: each has a line that says where it comes from, then its text verbatim. */
export function formatDelivery(messages: readonly MessageRow[]): string {
  return messages.map((message) => `[${describe(message)}]\n${formatContent(message)}`).join("\n\n");
}

function describe({ number, from, fromKind, channel, thread, priority }: MessageRow): string {
  const author = fromKind === "user" ? `${from} (a person)` : from;
  const place = channel.includes("+") ? "in a direct message" : `in #${channel}`;
  const parts = [`${formatMessageId(number)} from ${author} ${place}`];
  if (thread !== undefined) parts.push(`thread ${formatMessageId(thread)}`);
  if (priority === "high") parts.push("high priority");
  return parts.join(", ");
}

function formatContent({ content, resource, size }: MessageRow): string {
  if (resource === undefined) return content;
  return `${content}\n(The first part of ${size} characters. Read all of it with resource_read {"id": "${resource}"}.)`;
}
