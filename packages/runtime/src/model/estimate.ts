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

const sizes = new WeakMap<readonly ToolDefinition[], number>();

/** What every request begins with. Tools are the same list from turn to turn. */
export function tokensOfPrompt({ system, tools }: { system: string; tools: { definitions(): readonly ToolDefinition[] } }): number {
  const list = tools.definitions();
  const size = sizes.get(list) ?? tokensOfText(JSON.stringify(list));
  sizes.set(list, size);
  return tokensOfText(system) + size;
}
