import type { ModelMessage, ModelRequest, UserPart } from "../../model.ts";
import { dataUrl } from "../images.ts";
import { type Layout, laidOut } from "../layout.ts";
import { isReasoner } from "../openai.ts";
import { inputOf } from "../parts.ts";
import type { Kept } from "./answer.ts";

interface Setting {
  model: string;
  adapter: string;
  /** Ask for summaries of its thoughts. */
  summaries: boolean;
}

export function responsesBody({ system, messages, tools, settings }: ModelRequest, { model, adapter, summaries }: Setting): object {
  const { temperature, maxOutputTokens } = settings ?? {};
  const reasons = isReasoner(model);
  return {
    model,
    ...(system ? { instructions: system } : {}),
    input: inputItems(messages, adapter),
    ...(tools.length > 0
      ? { tools: tools.map(({ name, description, parameters }) => ({ type: "function", name, description, parameters, strict: false })) }
      : {}),
    ...(reasons && summaries ? { reasoning: { summary: "auto" } } : {}),
    ...(reasons ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(temperature === undefined || reasons ? {} : { temperature }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    store: false,
    stream: true,
  };
}

type Content = { type: "input_text"; text: string } | { type: "input_image"; image_url: string };

function inputItems(messages: readonly ModelMessage[], adapter: string): object[] {
  const items: object[] = [];
  let user: { role: "user"; content: Content[] } | undefined;
  for (const message of messages) {
    if (message.role === "user") {
      if (!user) items.push((user = { role: "user", content: [] }));
      user.content.push(...contentOf(message.content));
      continue;
    }
    user = undefined;
    if (message.role === "tool") items.push(resultItem(message));
    else items.push(...assistantItems(message, adapter));
  }
  return items;
}

const contentOf = (content: string | UserPart[]): Content[] =>
  typeof content === "string" ? [{ type: "input_text", text: content }] : content.map(userPart);

const userPart = (part: UserPart): Content =>
  part.type === "text" ? { type: "input_text", text: part.text } : { type: "input_image", image_url: dataUrl(part) };

function resultItem({ callId, content, images = [], failed }: Extract<ModelMessage, { role: "tool" }>): object {
  const text = failed ? `Error: ${content}` : content;
  const output =
    images.length === 0 ? text : [...contentOf(text), ...images.map((image) => userPart({ type: "image", ...image }))];
  return { type: "function_call_output", call_id: callId, output };
}

function assistantItems({ content, toolCalls = [], replay }: Extract<ModelMessage, { role: "assistant" }>, adapter: string): object[] {
  const layout = replay?.adapter === adapter ? (replay.data as Layout<Kept>) : undefined;
  const items: object[] = [];
  let phase: string | undefined;
  for (const piece of laidOut(content, toolCalls, layout)) {
    if ("kept" in piece) {
      if ("phase" in piece.kept) phase = piece.kept.phase;
      else items.push(piece.kept);
    } else if ("text" in piece) {
      items.push({ role: "assistant", content: [{ type: "output_text", text: piece.text }], ...(phase ? { phase } : {}) });
      phase = undefined;
    } else {
      items.push({ type: "function_call", call_id: piece.call.id, name: piece.call.name, arguments: JSON.stringify(inputOf(piece.call)) });
    }
  }
  return items;
}
