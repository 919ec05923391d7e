import { describe, expect, test } from "vitest";
import { PartCollector } from "../parts.ts";
import { ChatResponseParser } from "./response-parser.ts";

function read(chunks: object[], marked = true): any[] {
  const parser = new ChatResponseParser("chat m");
  const parts = new PartCollector();
  for (const chunk of chunks) parser.take(chunk as never, parts);
  parser.end(parts, marked);
  return parts.take();
}

const delta = (fields: object, finish_reason: string | null = null) => ({
  choices: [{ delta: fields, finish_reason }],
});
const calls = (parts: any[]) =>
  parts.filter(({ type }) => type === "tool-call").map(({ call }) => [call.id, call.name, call.input]);

describe("chat completions of compatible servers", () => {
  test("calls by index, interleaved", () => {
    const parts = read([
      delta({
        tool_calls: [
          { index: 0, id: "a", function: { name: "x", arguments: '{"n":' } },
          { index: 1, id: "b", function: { name: "y", arguments: "" } },
        ],
      }),
      delta(
        {
          tool_calls: [
            { index: 1, function: { arguments: '{"m":2}' } },
            { index: 0, function: { arguments: "1}" } },
          ],
        },
        "tool_calls",
      ),
    ]);
    expect(calls(parts)).toEqual([
      ["a", "x", { n: 1 }],
      ["b", "y", { m: 2 }],
    ]);
  });

  test("calls that all have index 0 but different ids", () => {
    const call = (id: string, n: number) =>
      delta({ tool_calls: [{ index: 0, id, function: { name: "x", arguments: `{"n":${n}}` } }] });
    expect(calls(read([call("a", 1), call("b", 2), delta({}, "stop")]))).toEqual([
      ["a", "x", { n: 1 }],
      ["b", "x", { n: 2 }],
    ]);
  });

  test("calls without index or id, with an object as input", () => {
    const parts = read([
      delta(
        {
          tool_calls: [
            { function: { name: "x", arguments: { n: 1 } } },
            { function: { name: "x", arguments: { n: 2 } } },
          ],
        },
        "stop",
      ),
    ]);
    expect(calls(parts).map(([, name, input]) => [name, input])).toEqual([
      ["x", { n: 1 }],
      ["x", { n: 2 }],
    ]);
    expect(new Set(calls(parts).map(([id]) => id)).size).toBe(2);
    expect(parts.at(-1).reason).toBe("tool-calls");
  });

  test("the older Workers AI format", () => {
    const parts = read([
      { response: "Hi " },
      { response: "there", tool_calls: [{ name: "x", arguments: { n: 1 } }] },
      { response: "", usage: { prompt_tokens: 3, completion_tokens: 2 } },
    ]);
    expect(parts[0]).toEqual({ type: "text", text: "Hi there" });
    expect(calls(parts)[0]!.slice(1)).toEqual(["x", { n: 1 }]);
    expect(parts.at(-1).usage).toEqual({ inputTokens: 3, outputTokens: 2 });
  });

  test("reasoning under either name, and content in parts", () => {
    const parts = read([
      delta({ reasoning: "Hm. " }),
      delta({ reasoning_content: "Yes." }),
      delta({ content: [{ type: "text", text: "So." }] }),
      delta({}, "stop"),
    ]);
    expect(parts.slice(0, 2)).toEqual([
      { type: "reasoning", text: "Hm. Yes." },
      { type: "text", text: "So." },
    ]);
  });

  test("without [DONE] the end counts only after a finish reason", () => {
    expect(read([delta({ content: "Hi" }, "stop")], false).at(-1)).toEqual({ type: "finish", reason: "stop" });
    expect(read([delta({ content: "Hi" })], false)).toEqual([{ type: "text", text: "Hi" }]);
    expect(
      read([delta({ tool_calls: [{ index: 0, id: "a", function: { name: "x", arguments: "{}" } }] })], false),
    ).toEqual([]);
  });

  test("a refusal becomes text with the finish reason content", () => {
    expect(read([delta({ refusal: "I will not." }), delta({}, "stop")])).toEqual([
      { type: "text", text: "I will not." },
      { type: "finish", reason: "content" },
    ]);
  });

  test("signatures and reasoning details go into the replay, merged from their pieces", () => {
    const parts = read([
      delta({ reasoning_details: [{ type: "reasoning.text", text: "a", index: 0 }] }),
      delta({ reasoning_details: [{ type: "reasoning.text", text: "b", index: 0, signature: "s" }] }),
      delta(
        {
          tool_calls: [
            {
              index: 0,
              id: "a",
              extra_content: { google: { thought_signature: "t" } },
              function: { name: "x", arguments: "{}" },
            },
          ],
        },
        "tool_calls",
      ),
    ]);
    expect(parts.find(({ type }) => type === "replay").replay).toEqual({
      adapter: "chat m",
      data: {
        fields: { reasoning_details: [{ type: "reasoning.text", text: "ab", index: 0, signature: "s" }] },
        calls: { a: { extra_content: { google: { thought_signature: "t" } } } },
      },
    });
  });
});
