import { describe, expect, test } from "vitest";
import { type Answer, type Format, normalizeAnswer } from "../../../../../tests/kit/model-server/answer.ts";
import { chat } from "../../../../../tests/kit/model-server/chat.ts";
import { messages } from "../../../../../tests/kit/model-server/messages.ts";
import { responses } from "../../../../../tests/kit/model-server/responses.ts";
import { createRandom } from "../../../../../tests/kit/random.ts";
import type { Model, ModelPart } from "../model.ts";
import type { WireOptions } from "./call.ts";
import { createChatModel } from "./chat.ts";
import { createMessagesModel } from "./messages.ts";
import { createResponsesModel } from "./responses.ts";

const wires: { name: string; format: Format; open(options: WireOptions): Model }[] = [
  { name: "chat", format: chat, open: createChatModel },
  { name: "messages", format: messages, open: createMessagesModel },
  { name: "responses", format: responses, open: createResponsesModel },
];

const recorded: Answer = {
  reasoning: ["Let me ", "think: ü\u{1f600}", "\n\ndone."],
  text: ["Hello ", "wörld", " \u{1f469}\u200d\u{1f680}", "\n\ndata: no event\r\n", "日本", "."],
  toolCalls: [
    { id: "call_a", name: "add", input: { a: 1, text: 'with "quotes", \\ and ü' } },
    { id: "call_b", name: "add", input: {} },
  ],
};

describe.each(wires)("the $name wire format", ({ format, open }) => {
  const body = (newline: string) =>
    new TextEncoder().encode(
      format
        .frames(normalizeAnswer(recorded), "test-model")
        .map(({ data }) => {
          const name = format.named ? `event: ${(data as { type: string }).type}${newline}` : "";
          const payload = data === "[DONE]" ? data : JSON.stringify(data);
          return `: a comment${newline}${name}data: ${payload}${newline}${newline}`;
        })
        .join(""),
    );

  test.each([
    ["a byte stream", "bytes", "\n"],
    ["a byte stream with CR LF", "bytes", "\r\n"],
    ["a stream of chunks", undefined, "\n"],
  ] as const)("any chunking of %s yields the same parts", async (_name, type, newline) => {
    const random = createRandom(
      `chunking, ${format === chat ? "chat" : format === messages ? "messages" : "responses"}`,
    );
    const whole = body(newline);
    const expected = await read(open, whole, [], type);
    expect(expected.filter((part) => part.type === "text")).toEqual([
      { type: "text", text: [recorded.text].flat().join("") },
    ]);
    for (let run = 0; run < 60; run++) {
      const cuts =
        run === 0
          ? whole.map((_, at) => at)
          : Array.from({ length: random.below(80) }, () => random.below(whole.length));
      expect(await read(open, whole, [...cuts], type)).toEqual(expected);
    }
  });
});

/** Returns the parts of one call whose body is cut at these places, with adjacent texts joined. */
async function read(
  open: (options: WireOptions) => Model,
  whole: Uint8Array,
  cuts: number[],
  type: "bytes" | undefined,
): Promise<ModelPart[]> {
  const places = [...new Set([0, ...cuts, whole.length])].sort((a, b) => a - b);
  const chunks = places.slice(1).map((end, index) => whole.slice(places[index], end));
  const source = {
    pull(controller: {
      enqueue(chunk: Uint8Array): void;
      close(): void;
      byobRequest?: { respond(bytes: number): void } | null;
    }) {
      const chunk = chunks.shift();
      if (chunk) return controller.enqueue(chunk);
      controller.close();
      controller.byobRequest?.respond(0);
    },
  };
  const stream = new ReadableStream((type ? { type, ...source } : source) as UnderlyingSource);
  const response = new Response(stream, { headers: { "content-type": "text/event-stream" } });
  const model = open({
    id: "test:model",
    model: "test-model",
    base: "http://model/v1",
    key: "k",
    fetch: async () => response,
  });
  const parts: ModelPart[] = [];
  const request = { system: "", messages: [{ role: "user" as const, content: "Hi" }], tools: [] };
  for await (const batch of model.stream(request, new AbortController().signal)) {
    for (const part of batch) {
      const last = parts.at(-1);
      if (last && part.type === last.type && (part.type === "text" || part.type === "reasoning")) {
        (last as { text: string }).text += part.text;
      } else parts.push(part);
    }
  }
  return parts;
}
