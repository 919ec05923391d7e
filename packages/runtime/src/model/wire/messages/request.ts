import type { ModelMessage, ModelRequest } from "../../model.ts";
import { toBase64 } from "../images.ts";
import { type Layout, toPieces } from "../layout.ts";
import { toInputObject } from "../parts.ts";
import { createThinking, supportsTemperature } from "./claude.ts";

interface MessagesBodyOptions {
  model: string;
  adapter: string;
}

type Block = { type: string; cache_control?: typeof ephemeralCache; [field: string]: unknown };

interface Message {
  role: "user" | "assistant";
  content: Block[];
}

const ephemeralCache = { type: "ephemeral" } as const;

/** Marks tools, system prompt and the conversation up to its last message for the provider's cache. */
export function createMessagesBody(
  { system, messages, tools, settings }: ModelRequest,
  { model, adapter }: MessagesBodyOptions,
): object {
  const temperature = settings?.temperature;
  const definitions: object[] = tools.map(({ name, description, parameters }, index) => ({
    name,
    description,
    input_schema: parameters,
    ...(index === tools.length - 1 ? { cache_control: ephemeralCache } : {}),
  }));
  const conversation = toMessages(messages, adapter);
  const { thinking, ...limits } = createThinking(model, settings);
  const sendsThinking = thinking && !(thinking.type === "enabled" && continuesUnthought(conversation));
  const isThinking = sendsThinking && thinking.type !== "disabled";
  const last = conversation.at(-1)?.content.at(-1);
  if (last && !last.type.includes("thinking")) last.cache_control = ephemeralCache;
  return {
    model,
    ...limits,
    ...(sendsThinking ? { thinking } : {}),
    ...(definitions.length > 0 ? { tools: definitions } : {}),
    ...(system.trim() ? { system: [{ type: "text", text: system, cache_control: ephemeralCache }] } : {}),
    messages: conversation,
    ...(temperature === undefined || isThinking || !supportsTemperature(model)
      ? {}
      : { temperature: Math.min(1, temperature) }),
    stream: true,
  };
}

/** Whether the model gets the results of calls that it made without thinking: it may not begin to think then. */
function continuesUnthought(conversation: readonly Message[]): boolean {
  if (conversation.at(-1)?.content[0]?.type !== "tool_result") return false;
  const first = conversation.at(-2)?.content[0]?.type;
  return first !== "thinking" && first !== "redacted_thinking";
}

function toMessages(messages: readonly ModelMessage[], adapter: string): Message[] {
  const list: Message[] = [];
  for (const message of messages) {
    const content = toBlocks(message, adapter);
    if (content.length === 0) continue;
    const role = message.role === "assistant" ? "assistant" : "user";
    const last = list.at(-1);
    if (last?.role === role) last.content.push(...content);
    else list.push({ role, content });
  }
  // Tool results must come first in their message, even if the user wrote something in between.
  for (const { role, content } of list) {
    if (role === "user") content.sort((a, b) => Number(b.type === "tool_result") - Number(a.type === "tool_result"));
  }
  return list;
}

function toBlocks(message: ModelMessage, adapter: string): Block[] {
  if (message.role === "user") {
    if (typeof message.content === "string") return toTextBlocks(message.content);
    return message.content.flatMap((part) => (part.type === "text" ? toTextBlocks(part.text) : [toImageBlock(part)]));
  }
  if (message.role === "tool") {
    const { callId, content, images = [], failed } = message;
    const inner = [...toTextBlocks(content), ...images.map(toImageBlock)];
    return [
      {
        type: "tool_result",
        tool_use_id: toSafeId(callId),
        ...(inner.length > 0 ? { content: inner } : {}),
        ...(failed ? { is_error: true } : {}),
      },
    ];
  }
  const { content, toolCalls = [], replay } = message;
  const layout = replay?.adapter === adapter ? (replay.data as Layout<Block>) : undefined;
  return toPieces(content, toolCalls, layout).flatMap((piece) => {
    if ("kept" in piece) return [{ ...piece.kept }];
    if ("text" in piece) return toTextBlocks(piece.text);
    return [{ type: "tool_use", id: toSafeId(piece.call.id), name: piece.call.name, input: toInputObject(piece.call) }];
  });
}

/** The API rejects blank text blocks. */
const toTextBlocks = (text: string): Block[] => (text.trim() === "" ? [] : [{ type: "text", text }]);

const toImageBlock = (image: { mediaType: string; data: Uint8Array }): Block => ({
  type: "image",
  source: { type: "base64", media_type: image.mediaType, data: toBase64(image) },
});

/** Calls from other providers may have ids that this one rejects. */
const toSafeId = (id: string): string => id.replace(/[^\w-]/g, "_");
