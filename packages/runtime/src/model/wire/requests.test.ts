import { describe, expect, test } from "vitest";
import type { ModelMessage, ModelRequest, ModelSettings } from "../model.ts";
import { createChatBody } from "./chat/request.ts";
import { getMaxOutputTokens, supportsTemperature } from "./messages/claude.ts";
import { createMessagesBody } from "./messages/request.ts";
import { isReasoner } from "./openai.ts";
import { createResponsesBody } from "./responses/request.ts";

const image = { mediaType: "image/png", data: new Uint8Array([1, 2, 3]) };
const tools = [{ name: "look", description: "Looks.", parameters: { type: "object" } }];
const conversation: ModelMessage[] = [
  { role: "user", content: "One" },
  { role: "user", content: "Two" },
  {
    role: "assistant",
    content: "",
    toolCalls: [
      { id: "a.b:1", name: "look", input: { at: 1 } },
      { id: "b", name: "look", input: undefined, malformed: "{" },
    ],
  },
  { role: "tool", callId: "a.b:1", name: "look", content: "seen", images: [image] },
  { role: "tool", callId: "b", name: "look", content: "not JSON", failed: true },
  { role: "user", content: "Three" },
  { role: "assistant", content: "" },
  { role: "user", content: "Four" },
];
const request = (messages = conversation, settings?: ModelRequest["settings"]): ModelRequest => ({
  system: "Be brief.",
  messages,
  tools,
  ...(settings ? { settings } : {}),
});

describe("chat completions", () => {
  const body = (isOpenAi = false, given = request(), model = "m") =>
    createChatBody(given, { model, adapter: "chat m", isOpenAi }) as any;

  test("user messages are merged, results stay adjacent, and their images follow", () => {
    const { messages } = body();
    expect(messages.map(({ role }: any) => role)).toEqual(["system", "user", "assistant", "tool", "tool", "user"]);
    expect(messages[1].content).toBe("One\n\nTwo");
    expect(messages[2].content).toBeNull();
    expect(messages[2].tool_calls[1].function.arguments).toBe('{"malformed":"{"}');
    expect(messages[4].content).toBe("Error: not JSON");
    expect(messages[5].content).toEqual([
      { type: "text", text: "Images from look:" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AQID" } },
      { type: "text", text: "Three" },
      { type: "text", text: "Four" },
    ]);
  });

  test("OpenAI has another name for the output limit, and its reasoning models accept no temperature", () => {
    const settings = { temperature: 0.5, maxOutputTokens: 9 };
    expect(body(false, request([], settings))).toMatchObject({ max_tokens: 9, temperature: 0.5 });
    expect(body(true, request([], settings), "gpt-4o")).toMatchObject({ max_completion_tokens: 9, temperature: 0.5 });
    expect(body(true, request([], settings), "gpt-5")).not.toHaveProperty("temperature");
    expect(body(true, request([], settings))).not.toHaveProperty("max_tokens");
  });
});

test("responses: user messages are merged, results keep their images, and nothing is stored", () => {
  const body = createResponsesBody(request(), { model: "gpt-5", adapter: "responses m", summaries: true }) as any;
  expect(body).toMatchObject({
    instructions: "Be brief.",
    store: false,
    include: ["reasoning.encrypted_content"],
    reasoning: { summary: "auto" },
  });
  expect(body.input.map(({ type, role }: any) => type ?? role)).toEqual([
    "user",
    "function_call",
    "function_call",
    "function_call_output",
    "function_call_output",
    "user",
    "user",
  ]);
  expect(body.input[0].content).toEqual([
    { type: "input_text", text: "One" },
    { type: "input_text", text: "Two" },
  ]);
  expect(body.input[3].output[1]).toEqual({ type: "input_image", image_url: "data:image/png;base64,AQID" });
  expect(
    createResponsesBody(request(), { model: "gpt-4o", adapter: "responses m", summaries: true }),
  ).not.toHaveProperty("include");
});

describe("messages", () => {
  const body = (given = request(), model = "claude-sonnet-4-5") =>
    createMessagesBody(given, { model, adapter: "messages m" }) as any;

  test("roles alternate, results come first, empty content is omitted, ids are sanitized", () => {
    const { messages } = body();
    expect(messages.map(({ role }: any) => role)).toEqual(["user", "assistant", "user"]);
    expect(messages[1].content.map(({ id }: any) => id)).toEqual(["a_b_1", "b"]);
    expect(messages[2].content.map(({ type }: any) => type)).toEqual(["tool_result", "tool_result", "text", "text"]);
    expect(messages[2].content[0].tool_use_id).toBe("a_b_1");
    expect(messages[2].content[1]).toMatchObject({ is_error: true });
    const steered = body(
      request([...conversation.slice(0, 3), { role: "user", content: "Wait" }, ...conversation.slice(3, 5)]),
    );
    expect(steered.messages[2].content.map(({ type }: any) => type)).toEqual(["tool_result", "tool_result", "text"]);
  });

  test("only tools, system prompt and the last message are marked for the cache", () => {
    const given = body();
    expect(given.tools.at(-1).cache_control).toBeDefined();
    expect(given.system[0].cache_control).toBeDefined();
    expect(given.messages.at(-1).content.at(-1).cache_control).toBeDefined();
    expect(JSON.stringify(given).split("cache_control")).toHaveLength(4);
  });

  test("reasoning goes back to its place among the remaining content", () => {
    const thought = { type: "thinking", thinking: "hm", signature: "s" };
    const data = [{ kept: thought }, { text: 2 }, { kept: thought }, { call: "gone" }, { call: "b" }];
    const [, { content }] = body(
      request([
        { role: "user", content: "One" },
        {
          role: "assistant",
          content: "ab and more",
          toolCalls: [
            { id: "b", name: "look", input: {} },
            { id: "new", name: "look", input: 7 },
          ],
          replay: { adapter: "messages m", data },
        },
      ]),
    ).messages;
    expect(content.map((block: any) => block.thinking ?? block.text ?? block.id)).toEqual([
      "hm",
      "ab",
      "hm",
      "b",
      " and more",
      "new",
    ]);
    expect(content.at(-1).input).toEqual({ value: 7 });
    expect(data[0]).toEqual({ kept: thought });
  });

  test.each([
    ["claude-3-haiku-20240307", 4096, true],
    ["claude-3-5-sonnet-20241022", 8192, true],
    ["claude-opus-4-20250514", 32_000, true],
    ["claude-opus-4-1-20250805", 32_000, true],
    ["claude-sonnet-4-20250514", 64_000, true],
    ["claude-opus-4-5", 64_000, true],
    ["claude-opus-4-7", 64_000, false],
    ["claude-sonnet-4-6", 64_000, true],
    ["claude-sonnet-5-20260101", 64_000, false],
    ["something-else", 4096, true],
  ])("%s has an output limit of %i tokens; accepts a temperature: %s", (model, maxTokens, hasTemperature) => {
    expect(getMaxOutputTokens(model)).toBe(maxTokens);
    expect(supportsTemperature(model)).toBe(hasTemperature);
  });
});

describe("reasoning", () => {
  const settings = (given: ModelSettings) => request([{ role: "user", content: "Hi" }], given);
  const chat = (model: string, given: ModelSettings, isOpenAi = true) =>
    (createChatBody(settings(given), { model, adapter: "a", isOpenAi }) as any).reasoning_effort;
  const responses = (model: string, given: ModelSettings) =>
    (createResponsesBody(settings(given), { model, adapter: "a", summaries: true }) as any).reasoning;
  const claude = (model: string, given: ModelSettings, messages?: ModelMessage[]) => {
    const body = createMessagesBody({ ...settings(given), ...(messages ? { messages } : {}) }, { model, adapter: "a" });
    const { max_tokens, thinking, output_config, temperature } = body as any;
    return { max_tokens, thinking, output_config, temperature };
  };

  test.each([
    ["o3", "none", "low"],
    ["o3", "max", "high"],
    ["gpt-5", "none", "minimal"],
    ["gpt-5-mini", "xhigh", "high"],
    ["gpt-5.1", "none", "none"],
    ["gpt-5.1", "minimal", "none"],
    ["gpt-5.4-mini", "max", "xhigh"],
    ["gpt-5.6-sol", "max", "max"],
    ["gpt-6-astra", "none", "low"],
  ] as const)("%s at %s is asked for %s", (model, reasoningEffort, expected) => {
    expect(responses(model, { reasoningEffort })).toEqual({ effort: expected, summary: "auto" });
    expect(chat(model, { reasoningEffort })).toBe(expected);
  });

  test("it is not sent to models that cannot reason, nor unless it is set", () => {
    expect(responses("gpt-4o", { reasoningEffort: "high" })).toBeUndefined();
    expect(chat("gpt-4o", { reasoningEffort: "high" })).toBeUndefined();
    expect(responses("gpt-5", { temperature: 1 })).toEqual({ summary: "auto" });
    expect(chat("gpt-5", {})).toBeUndefined();
    expect(claude("claude-3-5-sonnet-20241022", { reasoningEffort: "high" })).toEqual({ max_tokens: 8192 });
    expect(claude("claude-opus-5", {})).toEqual({ max_tokens: 64_000 });
  });

  test("other servers get the efforts that they have in common", () => {
    expect(chat("qwen", { reasoningEffort: "max" }, false)).toBe("high");
    expect(chat("qwen", { reasoningEffort: "none" }, false)).toBe("none");
    expect(chat("qwen", { thinkingBudget: 3000 }, false)).toBe("low");
  });

  test("older Claude models get a budget in addition to what they write, and no temperature", () => {
    expect(claude("claude-sonnet-4-5", { thinkingBudget: 2000, maxOutputTokens: 1000, temperature: 0.2 })).toEqual({
      max_tokens: 3000,
      thinking: { type: "enabled", budget_tokens: 2000 },
    });
    expect(claude("claude-sonnet-4-5", { reasoningEffort: "max" })).toEqual({
      max_tokens: 64_000,
      thinking: { type: "enabled", budget_tokens: 59_904 },
    });
    expect(claude("claude-sonnet-4-5", { thinkingBudget: 1 })).toMatchObject({ thinking: { budget_tokens: 1024 } });
    expect(claude("claude-sonnet-4-5", { reasoningEffort: "none", temperature: 0.2 })).toMatchObject({
      thinking: { type: "disabled" },
      temperature: 0.2,
    });
    // The smallest model that the API may serve: the budget still leaves room for a response.
    const { max_tokens, thinking } = claude("something-else", { reasoningEffort: "max" });
    expect(max_tokens).toBeGreaterThan(thinking.budget_tokens);
  });

  test("newer Claude models get an effort; some cannot be told not to think", () => {
    expect(claude("claude-opus-4-6", { reasoningEffort: "xhigh", temperature: 0.2 })).toEqual({
      max_tokens: 64_000,
      thinking: { type: "adaptive", display: "summarized" },
      output_config: { effort: "high" },
    });
    expect(claude("claude-opus-5", { reasoningEffort: "xhigh" })).toMatchObject({ output_config: { effort: "xhigh" } });
    expect(claude("claude-opus-5", { thinkingBudget: 0 })).toMatchObject({ thinking: { type: "disabled" } });
    expect(claude("claude-haiku-5-5", { thinkingBudget: 0 })).toMatchObject({ thinking: { type: "disabled" } });
    expect(claude("claude-opus-5-5", { reasoningEffort: "none" })).toMatchObject({
      thinking: { type: "adaptive" },
      output_config: { effort: "low" },
    });
  });

  test("with a budget, the model may not begin to think after calls that it made without thinking", () => {
    const replay = { adapter: "a", data: [{ kept: { type: "thinking", thinking: "hm", signature: "s" } }] };
    const messages = (thought: boolean): ModelMessage[] => [
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "",
        toolCalls: [{ id: "a", name: "look", input: {} }],
        ...(thought ? { replay } : {}),
      },
      { role: "tool", callId: "a", name: "look", content: "seen" },
    ];
    expect(claude("claude-sonnet-4-5", { reasoningEffort: "low" }, messages(false)).thinking).toBeUndefined();
    expect(claude("claude-sonnet-4-5", { reasoningEffort: "low" }, messages(true)).thinking).toBeDefined();
    expect(claude("claude-opus-5", { reasoningEffort: "low" }, messages(false)).thinking).toBeDefined();
  });
});

test("OpenAI's reasoning models are recognized by name", () => {
  expect(["o1", "o3-mini", "gpt-5", "gpt-5.1-codex", "gpt-6"].every(isReasoner)).toBe(true);
  expect(["gpt-4o", "gpt-4.1", "gpt-5-chat-latest", "llama-3", "omni"].some(isReasoner)).toBe(false);
});

test("equal requests produce equal bytes in every format", () => {
  const copy = structuredClone(request());
  expect(JSON.stringify(createChatBody(copy, { model: "m", adapter: "a", isOpenAi: true }))).toBe(
    JSON.stringify(createChatBody(request(), { model: "m", adapter: "a", isOpenAi: true })),
  );
  expect(JSON.stringify(createMessagesBody(copy, { model: "m", adapter: "a" }))).toBe(
    JSON.stringify(createMessagesBody(request(), { model: "m", adapter: "a" })),
  );
  const options = { model: "m", adapter: "a", summaries: true };
  expect(JSON.stringify(createResponsesBody(copy, options))).toBe(
    JSON.stringify(createResponsesBody(request(), options)),
  );
});
