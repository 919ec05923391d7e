import type { ModelMessage, ToolDefinition } from "./model.ts";

/** Guesses tokens where no provider has counted them yet. Rather too many than too few, for what is written in letters. */

export const charsPerToken = 3.5;
const perImage = 1_500;
/** The frame around every message. */
const perMessage = 4;

export function tokensOfText(text: string): number {
  return Math.ceil(text.length / charsPerToken);
}

export function tokensOfMessage(message: ModelMessage): number {
  if (message.role === "user") {
    if (typeof message.content === "string") return perMessage + tokensOfText(message.content);
    return message.content.reduce((sum, part) => sum + (part.type === "text" ? tokensOfText(part.text) : perImage), perMessage);
  }
  if (message.role === "tool") return perMessage + tokensOfText(message.content) + (message.images?.length ?? 0) * perImage;
  const calls = message.toolCalls?.length ? tokensOfText(JSON.stringify(message.toolCalls)) : 0;
  const replay = message.replay ? tokensOfText(JSON.stringify(message.replay.data)) : 0;
  return perMessage + tokensOfText(message.content) + calls + replay;
}

/** A pure function's results; an entry lives as long as its definition. */
const sizes = new WeakMap<ToolDefinition, number>();

/** What every request begins with. Definitions are the same objects from turn to turn. */
export function tokensOfPrompt({ system, tools }: { system: string; tools: { definitions(): readonly ToolDefinition[] } }): number {
  // As long as the list would be in JSON: its brackets and commas, and each definition.
  let chars = 1;
  for (const definition of tools.definitions()) chars += 1 + sizeOf(definition);
  return tokensOfText(system) + Math.ceil(Math.max(2, chars) / charsPerToken);
}

function sizeOf(definition: ToolDefinition): number {
  let size = sizes.get(definition);
  if (size === undefined) {
    size = JSON.stringify(definition).length;
    sizes.set(definition, size);
  }
  return size;
}
