import type { Answer, Fault } from "./answer.ts";
import type { FormatName } from "./request.ts";

// The model server's own token counts; they match no real tokenizer.

/** An image costs the same, whatever its size. */
const tokensPerImage = 800;

/** Counts word pieces of up to five letters, and every other character by itself. */
export function countTokens(value: unknown): number {
  if (typeof value === "string") {
    if (value.startsWith("data:image/")) return tokensPerImage;
    return value.match(/[\p{L}\p{N}]{1,5}|[^\s\p{L}\p{N}]/gu)?.length ?? 0;
  }
  if (typeof value !== "object" || value === null) return value === undefined || value === null ? 0 : 1;
  if ("media_type" in value || "inlineData" in value) return tokensPerImage;
  // Two for the envelope of every part and message.
  return Object.values(value).reduce<number>((sum, inner) => sum + countTokens(inner), 2);
}

/** Counts the parts of a request that the model reads. */
export function countRequestTokens(body: Record<string, unknown>): number {
  const { system, instructions, systemInstruction, messages, input, contents, tools } = body;
  return countTokens([system, instructions, systemInstruction, messages, input, contents, tools]);
}

export function countAnswerTokens({ reasoning = [], text = [], toolCalls = [] }: Answer): number {
  return countTokens([
    [reasoning].flat().join(""),
    [text].flat().join(""),
    toolCalls.map(({ name, input }) => [name, input]),
  ]);
}

/** Each provider's error for a conversation that is too long. */
export function createOverflowFault(format: FormatName, tokens: number, limit: number): Fault {
  switch (format) {
    case "chat":
      return {
        kind: "status",
        status: 400,
        code: "context_length_exceeded",
        message: `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`,
      };
    case "responses":
      return {
        kind: "status",
        status: 400,
        code: "context_length_exceeded",
        message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
      };
    case "messages":
      return { kind: "status", status: 400, message: `prompt is too long: ${tokens} tokens > ${limit} maximum` };
    case "google":
      return {
        kind: "status",
        status: 400,
        message: `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`,
      };
  }
}
