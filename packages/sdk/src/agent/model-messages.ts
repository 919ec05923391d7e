import type { Attachment, ConversationMessage, IncomingMessage, ModelMessage, UserPart } from "./definition.ts";
import type { WireModelMessage, WireUserPart } from "./wire.ts";

/** Reduces messages to what a model is sent, because those of a conversation have more fields. */
export function toWireMessages(messages: readonly ModelMessage[]): WireModelMessage[] {
  return messages.map((message) => {
    switch (message.role) {
      case "user":
        return { role: "user", content: toWireContent(message.content) };
      case "assistant": {
        const { content, toolCalls, replayId } = message;
        return {
          role: "assistant",
          content,
          ...(toolCalls ? { toolCalls } : {}),
          ...(replayId ? { replayId } : {}),
        };
      }
      case "tool": {
        const { callId, name, content, isError } = message;
        return { role: "tool", callId, name, content, ...(isError ? { isError } : {}) };
      }
      default:
        throw new TypeError(
          `A message has the role ${JSON.stringify((message as { role: unknown }).role)}; expected user, assistant or tool. Instructions go into \`system\`.`,
        );
    }
  });
}

function toWireContent(content: string | readonly UserPart[]): string | WireUserPart[] {
  if (typeof content === "string") return content;
  return content.map((part) =>
    part.type === "text"
      ? { type: "text", text: part.text }
      : { type: "image", attachment: typeof part.attachment === "string" ? part.attachment : part.attachment.id },
  );
}

/**
 * Returns the conversation and the current message as a model is sent them: with the images that people attached, and
 * the names of other files.
 */
export function toModelMessages(
  conversation: readonly ConversationMessage[],
  ...messages: readonly IncomingMessage[]
): ModelMessage[] {
  return [
    ...conversation.map(({ role, content, attachments }): ModelMessage =>
      role === "user" ? { role, content: toContent(content, attachments) } : { role, content },
    ),
    ...messages.map(({ content, attachments }): ModelMessage => ({
      role: "user",
      content: toContent(content, attachments),
    })),
  ];
}

function toContent(content: string, attachments: readonly Attachment[] = []): string | UserPart[] {
  const images = attachments.filter(({ mediaType }) => mediaType.startsWith("image/"));
  const files = attachments.filter((attachment) => !images.includes(attachment));
  const text = [content, ...files.map(({ name, mediaType, size }) => `[file ${name}, ${mediaType}, ${size} bytes]`)]
    .filter(Boolean)
    .join("\n");
  if (images.length === 0) return text;
  return [
    ...(text ? [{ type: "text" as const, text }] : []),
    ...images.map((attachment) => ({ type: "image" as const, attachment })),
  ];
}

/** Returns a conversation as plain text, the newest messages if it has more than `maxChars` characters. */
export function formatConversation(
  conversation: readonly Pick<ConversationMessage, "role" | "content">[],
  { maxChars = 20_000, names = {} }: { maxChars?: number; names?: { user?: string; assistant?: string } } = {},
): string {
  const { user = "User", assistant = "Assistant" } = names;
  const lines: string[] = [];
  let chars = 0;
  for (const { role, content } of conversation.toReversed()) {
    const line = `${role === "user" ? user : assistant}: ${content}`;
    chars += line.length + 2;
    if (chars > maxChars) break;
    lines.unshift(line);
  }
  return lines.join("\n\n");
}
