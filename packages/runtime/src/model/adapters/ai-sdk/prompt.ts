import type {
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4ToolResultPart,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import type { ModelMessage, ModelRequest } from "../../model.ts";
import { type Layout, toPieces } from "../../wire/layout.ts";
import { toInputObject } from "../../wire/parts.ts";

/** A reasoning block with its signature, or the provider options of the piece that follows. */
export type AiSdkReplay = { reasoning?: string; options: SharedV4ProviderOptions };

type Assistant = Extract<LanguageModelV4Message, { role: "assistant" }>;
type Image = { mediaType: string; data: Uint8Array };

export function createPrompt({ system, messages }: ModelRequest, adapter: string): LanguageModelV4Prompt {
  const list: LanguageModelV4Prompt = system ? [{ role: "system", content: system }] : [];
  for (const message of messages) {
    const last = list.at(-1);
    if (message.role === "tool") {
      // The results of one step form one message.
      if (last?.role === "tool") last.content.push(toToolResult(message));
      else list.push({ role: "tool", content: [toToolResult(message)] });
    } else if (message.role === "assistant") {
      const content = toAssistantContent(message, adapter);
      if (content.length > 0) list.push({ role: "assistant", content });
    } else {
      const content =
        typeof message.content === "string" ? [{ type: "text" as const, text: message.content }] : message.content;
      const parts = content.map((part) => (part.type === "text" ? part : toFilePart(part)));
      if (last?.role === "user") last.content.push(...parts);
      else list.push({ role: "user", content: parts });
    }
  }
  return list;
}

const toFilePart = ({ mediaType, data }: Image) => ({
  type: "file" as const,
  mediaType,
  data: { type: "data" as const, data },
});

function toToolResult({
  callId,
  name,
  content,
  failed,
  images = [],
}: Extract<ModelMessage, { role: "tool" }>): LanguageModelV4ToolResultPart {
  const output: LanguageModelV4ToolResultPart["output"] =
    images.length > 0
      ? {
          type: "content",
          value: [{ type: "text", text: failed ? `Error: ${content}` : content }, ...images.map(toFilePart)],
        }
      : { type: failed ? "error-text" : "text", value: content };
  return { type: "tool-result", toolCallId: callId, toolName: name, output };
}

function toAssistantContent(
  { content, toolCalls = [], replay }: Extract<ModelMessage, { role: "assistant" }>,
  adapter: string,
): Assistant["content"] {
  const layout = replay?.adapter === adapter ? (replay.data as Layout<AiSdkReplay>) : undefined;
  const parts: Assistant["content"] = [];
  let next: SharedV4ProviderOptions | undefined;
  for (const piece of toPieces(content, toolCalls, layout)) {
    if ("kept" in piece) {
      const { reasoning, options } = piece.kept;
      if (reasoning === undefined) next = options;
      else parts.push({ type: "reasoning", text: reasoning, providerOptions: options });
      continue;
    }
    const options = next ? { providerOptions: next } : {};
    next = undefined;
    if ("text" in piece) parts.push({ type: "text", text: piece.text, ...options });
    else
      parts.push({
        type: "tool-call",
        toolCallId: piece.call.id,
        toolName: piece.call.name,
        input: toInputObject(piece.call),
        ...options,
      });
  }
  return parts;
}
