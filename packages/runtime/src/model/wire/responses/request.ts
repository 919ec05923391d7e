import type { ModelMessage, ModelRequest, UserPart } from "../../model.ts";
import { toDataUrl } from "../images.ts";
import { type Layout, toPieces } from "../layout.ts";
import { createEffort, isReasoner } from "../openai.ts";
import { toInputObject } from "../parts.ts";
import type { ResponsesReplay } from "./response-parser.ts";

interface ResponsesBodyOptions {
  model: string;
  adapter: string;
  /** Whether to request reasoning summaries. */
  summaries: boolean;
}

export function createResponsesBody(
  { system, messages, tools, settings }: ModelRequest,
  { model, adapter, summaries }: ResponsesBodyOptions,
): object {
  const { temperature, maxOutputTokens } = settings ?? {};
  const isReasoning = isReasoner(model);
  const effort = createEffort(model, settings);
  const reasoning = { ...(effort ? { effort } : {}), ...(isReasoning && summaries ? { summary: "auto" } : {}) };
  return {
    model,
    ...(system ? { instructions: system } : {}),
    input: toInputItems(messages, adapter),
    ...(tools.length > 0
      ? {
          tools: tools.map(({ name, description, parameters }) => ({
            type: "function",
            name,
            description,
            parameters,
            strict: false,
          })),
        }
      : {}),
    ...(Object.keys(reasoning).length > 0 ? { reasoning } : {}),
    ...(isReasoning ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(temperature === undefined || isReasoning ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    store: false,
    stream: true,
  };
}

type Content = { type: "input_text"; text: string } | { type: "input_image"; image_url: string };

function toInputItems(messages: readonly ModelMessage[], adapter: string): object[] {
  const items: object[] = [];
  let user: { role: "user"; content: Content[] } | undefined;
  for (const message of messages) {
    if (message.role === "user") {
      if (!user) items.push((user = { role: "user", content: [] }));
      user.content.push(...toContent(message.content));
      continue;
    }
    user = undefined;
    if (message.role === "tool") items.push(toResultItem(message));
    else items.push(...toAssistantItems(message, adapter));
  }
  return items;
}

const toContent = (content: string | UserPart[]): Content[] =>
  typeof content === "string" ? [{ type: "input_text", text: content }] : content.map(toUserPart);

const toUserPart = (part: UserPart): Content =>
  part.type === "text" ? { type: "input_text", text: part.text } : { type: "input_image", image_url: toDataUrl(part) };

function toResultItem({ callId, content, images = [], failed }: Extract<ModelMessage, { role: "tool" }>): object {
  const text = failed ? `Error: ${content}` : content;
  const output =
    images.length === 0
      ? text
      : [...toContent(text), ...images.map((image) => toUserPart({ type: "image", ...image }))];
  return { type: "function_call_output", call_id: callId, output };
}

function toAssistantItems(
  { content, toolCalls = [], replay }: Extract<ModelMessage, { role: "assistant" }>,
  adapter: string,
): object[] {
  const layout = replay?.adapter === adapter ? (replay.data as Layout<ResponsesReplay>) : undefined;
  const items: object[] = [];
  let phase: string | undefined;
  for (const piece of toPieces(content, toolCalls, layout)) {
    if ("kept" in piece) {
      if ("phase" in piece.kept) phase = piece.kept.phase;
      else items.push(piece.kept);
    } else if ("text" in piece) {
      items.push({
        role: "assistant",
        content: [{ type: "output_text", text: piece.text }],
        ...(phase ? { phase } : {}),
      });
      phase = undefined;
    } else {
      items.push({
        type: "function_call",
        call_id: piece.call.id,
        name: piece.call.name,
        arguments: JSON.stringify(toInputObject(piece.call)),
      });
    }
  }
  return items;
}
