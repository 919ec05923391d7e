import type { ModelMessage, ToolDefinition } from "./model.ts";

/** Guesses tokens where no provider has counted them yet. Rather too many than too few, for what is written in letters. */

export const charsPerToken = 3.5;
const tokensPerImage = 1_500;
/** The frame around every message. */
const tokensPerMessage = 4;

export function estimateTextTokens(text: string): number {
  return Math.ceil(text.length / charsPerToken);
}

export function estimateMessageTokens(message: ModelMessage): number {
  if (message.role === "user") {
    if (typeof message.content === "string") return tokensPerMessage + estimateTextTokens(message.content);
    return message.content.reduce(
      (sum, part) => sum + (part.type === "text" ? estimateTextTokens(part.text) : tokensPerImage),
      tokensPerMessage,
    );
  }
  if (message.role === "tool")
    return tokensPerMessage + estimateTextTokens(message.content) + (message.images?.length ?? 0) * tokensPerImage;
  const calls = message.toolCalls?.length ? estimateTextTokens(JSON.stringify(message.toolCalls)) : 0;
  const replay = message.replay ? estimateTextTokens(JSON.stringify(message.replay.data)) : 0;
  return tokensPerMessage + estimateTextTokens(message.content) + calls + replay;
}

/** A pure function's results; an entry lives as long as its definition. */
const definitionChars = new WeakMap<ToolDefinition, number>();

/** What every request begins with. Definitions are the same objects from turn to turn. */
export function estimatePromptTokens({
  system,
  tools,
}: {
  system: string;
  tools: { definitions(): readonly ToolDefinition[] };
}): number {
  // As long as the list would be in JSON: its brackets and commas, and each definition.
  let chars = 1;
  for (const definition of tools.definitions()) chars += 1 + countDefinitionChars(definition);
  return estimateTextTokens(system) + Math.ceil(Math.max(2, chars) / charsPerToken);
}

function countDefinitionChars(definition: ToolDefinition): number {
  let size = definitionChars.get(definition);
  if (size === undefined) {
    size = JSON.stringify(definition).length;
    definitionChars.set(definition, size);
  }
  return size;
}
