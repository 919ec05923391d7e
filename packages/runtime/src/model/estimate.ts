import type { ModelMessage, ToolDefinition } from "./model.ts";

/** Estimates tokens before a provider has counted them. Errs on the high side for alphabetic scripts. */
export const charsPerToken = 3.5;
const tokensPerImage = 1_500;
/** Overhead of each message. */
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

/** Caches the results of a pure function; an entry lives as long as its definition. */
const definitionChars = new WeakMap<ToolDefinition, number>();

/** The system prompt and tools of a request. Definitions are the same objects from turn to turn. */
export function estimatePromptTokens({
  system,
  tools,
}: {
  system: string;
  tools: { definitions(): readonly ToolDefinition[] };
}): number {
  // The length of the list as JSON: brackets, commas and each definition.
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
