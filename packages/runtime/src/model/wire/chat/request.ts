import type { ModelMessage, ModelRequest, ModelSettings, UserPart } from "../../model.ts";
import { findNearestEffort, getEffort } from "../../reasoning.ts";
import { toDataUrl } from "../images.ts";
import { createEffort, isReasoner } from "../openai.ts";
import { toInputObject } from "../parts.ts";
import type { ChatReplay } from "./response-parser.ts";

interface ChatBodyOptions {
  model: string;
  adapter: string;
  /** Whether the server is OpenAI's isOpenAi, the only one without `max_tokens`. */
  isOpenAi: boolean;
}

type Part = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } };

interface ChatMessage {
  role: "system" | "user" | "assistant" | "tool";
  content: string | Part[] | null;
  [field: string]: unknown;
}

/** Equal requests produce equal bytes, because providers cache prompts by prefix. */
export function createChatBody(
  { system, messages, tools, settings }: ModelRequest,
  { model, adapter, isOpenAi }: ChatBodyOptions,
): object {
  const { temperature, maxOutputTokens } = settings ?? {};
  const effort = isOpenAi ? createEffort(model, settings) : createCompatibleEffort(settings);
  return {
    model,
    messages: [...(system ? [{ role: "system", content: system }] : []), ...toChatMessages(messages, adapter)],
    ...(tools.length > 0
      ? {
          tools: tools.map(({ name, description, parameters }) => ({
            type: "function",
            function: { name, description, parameters },
          })),
        }
      : {}),
    ...(temperature === undefined || (isOpenAi && isReasoner(model)) ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { [isOpenAi ? "max_completion_tokens" : "max_tokens"]: maxOutputTokens }),
    ...(effort ? { reasoning_effort: effort } : {}),
    stream: true,
    stream_options: { include_usage: true },
  };
}

/** The efforts that servers with OpenAI's API have in common. */
const compatibleEfforts = ["none", "low", "medium", "high"] as const;

function createCompatibleEffort(settings: ModelSettings | undefined) {
  const effort = getEffort(settings);
  return effort && findNearestEffort(effort, compatibleEfforts);
}

function toChatMessages(messages: readonly ModelMessage[], adapter: string): ChatMessage[] {
  const list: ChatMessage[] = [];
  // Tool results may only contain text and must be adjacent, so their images follow as a user message.
  let images: Part[] = [];
  const flush = () => {
    if (images.length > 0) addUser(list, images);
    images = [];
  };
  for (const message of messages) {
    if (message.role !== "tool") flush();
    if (message.role === "user") addUser(list, message.content);
    else if (message.role === "assistant") addAssistant(list, message, adapter);
    else {
      list.push({
        role: "tool",
        tool_call_id: message.callId,
        content: message.failed ? `Error: ${message.content}` : message.content,
      });
      if (message.images?.length) {
        images.push({ type: "text", text: `Images from ${message.name}:` }, ...message.images.map(toImagePart));
      }
    }
  }
  flush();
  return list;
}

const toImagePart = (image: { mediaType: string; data: Uint8Array }): Part => ({
  type: "image_url",
  image_url: { url: toDataUrl(image) },
});

const toUserPart = (part: UserPart | Part): Part => (part.type === "image" ? toImagePart(part) : part);

/** Merges consecutive user messages: chat templates of local models require user and assistant to alternate. */
function addUser(list: ChatMessage[], content: string | (UserPart | Part)[]): void {
  const last = list.at(-1);
  const added = typeof content === "string" ? content : content.map(toUserPart);
  if (last?.role !== "user") list.push({ role: "user", content: added });
  else if (typeof last.content === "string" && typeof added === "string") last.content = `${last.content}\n\n${added}`;
  else last.content = [...toParts(last.content), ...toParts(added)];
}

const toParts = (content: string | Part[] | null): Part[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []);

function addAssistant(
  list: ChatMessage[],
  message: Extract<ModelMessage, { role: "assistant" }>,
  adapter: string,
): void {
  const { content, toolCalls = [], replay } = message;
  if (content === "" && toolCalls.length === 0) return;
  const replayData = replay?.adapter === adapter ? (replay.data as ChatReplay) : undefined;
  list.push({
    role: "assistant",
    content: content === "" ? null : content,
    ...replayData?.fields,
    ...(toolCalls.length > 0
      ? {
          tool_calls: toolCalls.map((call) => ({
            id: call.id,
            type: "function",
            function: { name: call.name, arguments: JSON.stringify(toInputObject(call)) },
            ...replayData?.calls?.[call.id],
          })),
        }
      : {}),
  });
}
