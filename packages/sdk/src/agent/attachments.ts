import { decodeBase64 } from "./base64.ts";
import type { Attachment, ConversationMessage, IncomingMessage } from "./definition.ts";
import type { HostClient } from "./host-client.ts";
import type { WireAttachment, WireConversationMessage, WireMessage } from "./wire.ts";

function toAttachment({ id, name, mediaType, size }: WireAttachment, host: HostClient): Attachment {
  const read = async () => decodeBase64((await host.call("attachment.read", { id })).base64);
  return {
    id,
    name: name ?? `attachment.${mediaType.split("/")[1] ?? "bin"}`,
    mediaType,
    size,
    read,
    text: async () => new TextDecoder().decode(await read()),
  };
}

export function toIncomingMessage(message: WireMessage, host: HostClient): IncomingMessage {
  return { ...message, attachments: message.attachments.map((attachment) => toAttachment(attachment, host)) };
}

export function toConversationMessage(
  { attachments, ...message }: WireConversationMessage,
  host: HostClient,
): ConversationMessage {
  return attachments
    ? { ...message, attachments: attachments.map((attachment) => toAttachment(attachment, host)) }
    : message;
}
