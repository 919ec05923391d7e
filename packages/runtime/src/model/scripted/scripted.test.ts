import { validateScript } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { ModelError } from "../error.ts";
import type { ModelMessage, ModelPart } from "../model.ts";
import { createScriptedModel } from "./scripted.ts";
import { tour } from "./tour.ts";

function createModel(source: unknown) {
  const { script, issues } = validateScript(source);
  if (!script) throw new Error(JSON.stringify(issues));
  return createScriptedModel("scripted:test", script);
}

async function collectParts(
  model: ReturnType<typeof createModel>,
  messages: ModelMessage[],
  signal = new AbortController().signal,
) {
  const all: ModelPart[] = [];
  for await (const batch of model.stream({ system: "", messages, tools: [] }, signal)) all.push(...batch);
  return all;
}

/** Plays a turn like the runtime: appends responses and tool results until a response has no calls. */
async function play(
  model: ReturnType<typeof createModel>,
  messages: ModelMessage[],
  results: (name: string) => string = () => "ok",
) {
  const transcript: unknown[] = [];
  for (;;) {
    const response = await collectParts(model, messages);
    const text = response.map((part) => (part.type === "text" ? part.text : "")).join("");
    const toolCalls = response.flatMap((part) => (part.type === "tool-call" ? [part.call] : []));
    transcript.push(text, ...toolCalls.map(({ name, input }) => [name, input]));
    messages.push({ role: "assistant", content: text, toolCalls });
    if (toolCalls.length === 0) return transcript;
    for (const { id, name } of toolCalls) messages.push({ role: "tool", callId: id, name, content: results(name) });
  }
}

const user = (content: string): ModelMessage => ({ role: "user", content });

const two = [
  {
    when: "add",
    steps: [
      { reasoning: "hm" },
      { text: "first " },
      { call: { tool: "sum", input: { of: "{{ message }}" } } },
      { text: "it is {{ results.sum.value }}" },
      { calls: [{ tool: "a" }, { tool: "b", input: { value: "{{ results.sum.value }}", text: "n={{ results.0 }}" } }] },
      { text: "done in turn {{ turn }}" },
    ],
  },
  { steps: [{ text: "one" }] },
  { steps: [{ text: "two" }] },
];

const sum = (name: string) => (name === "sum" ? '{"value":3}' : "plain");

test("an exchange is split into responses at its calls, and results fill its expressions", async () => {
  expect(await play(createModel(two), [user("Add 1 and 2")], sum)).toEqual([
    "first ",
    ["sum", { of: "Add 1 and 2" }],
    "it is 3",
    ["a", {}],
    ["b", { value: 3, text: 'n={"value":3}' }],
    "done in turn 1",
  ]);
});

test("the position follows from the messages alone: a new model continues mid-turn in the same way", async () => {
  const whole: ModelMessage[] = [user("add")];
  const expected = await play(createModel(two), whole, sum);
  // Cut the conversation after each message that is not a response, and let a new model finish it.
  for (const [at, { role }] of whole.entries()) {
    const next = whole[at + 1]?.role;
    if (role === "assistant" || next === "tool") continue;
    const resumed = whole.slice(0, at + 1);
    await play(createModel(two), resumed, sum);
    expect(resumed.map(({ content }) => content)).toEqual(whole.map(({ content }) => content));
  }
  expect(expected).toHaveLength(6);
});

test("exchanges without a pattern are used in order and the last repeats; those with one do not advance the order", async () => {
  const model = createModel(two);
  const messages: ModelMessage[] = [];
  const texts: unknown[] = [];
  for (const text of ["x", "add", "y", "z"]) {
    messages.push(user(text));
    texts.push((await play(model, messages, sum)).at(-1));
  }
  expect(texts).toEqual(["one", "done in turn 2", "two", "two"]);
});

test("consecutive messages count as one, and the last is answered; one in the middle of a turn starts a new exchange", async () => {
  const model = createModel(two);
  expect(await play(model, [user("x"), user("y")])).toEqual(["one"]);
  const steered: ModelMessage[] = [
    user("add"),
    { role: "assistant", content: "" },
    { role: "tool", callId: "1", name: "sum", content: "1" },
    user("stop"),
  ];
  expect(await play(model, steered)).toEqual(["one"]);
});

test("patterns are case-insensitive text, expressions between slashes, or bare expressions", async () => {
  const say = (when: string) => ({ when, steps: [{ text: when }] });
  const model = createModel([say("/^exact$/"), say("C++"), say("order \\d+"), { steps: [{ text: "else" }] }]);
  const reply = async (text: string) => (await play(model, [user(text)]))[0];
  expect(await reply("exact")).toBe("/^exact$/");
  expect(await reply("inexact")).toBe("else");
  expect(await reply("i like c++")).toBe("C++");
  expect(await reply("Order 66")).toBe("order \\d+");
});

test("a script without a matching exchange stops", async () => {
  const model = createModel([{ when: "only this", text: "yes" }]);
  expect(await collectParts(model, [user("something else")])).toEqual([
    expect.objectContaining({ type: "finish", reason: "stop" }),
  ]);
});

test("usage is estimated, and a response with calls finishes with tool-calls", async () => {
  const response = await collectParts(createModel([{ call: { tool: "t" } }]), [user("12345678")]);
  expect(response.at(-1)).toEqual({
    type: "finish",
    reason: "tool-calls",
    usage: { inputTokens: 2, outputTokens: expect.any(Number) },
  });
});

test("call ids are unique", async () => {
  const model = createModel([{ calls: [{ tool: "t" }, { tool: "t" }] }]);
  const ids = [...(await collectParts(model, [user("a")])), ...(await collectParts(model, [user("a")]))].flatMap(
    (part) => (part.type === "tool-call" ? [part.call.id] : []),
  );
  expect(new Set(ids).size).toBe(4);
});

test("a failure maps to the error of its HTTP status; it ends after `times`, or never without it", async () => {
  const model = createModel([
    { steps: [{ text: "a" }, { fail: { status: 429, times: 2, retryAfter: 7 } }, { text: "b" }] },
  ]);
  const error = await collectParts(model, [user("x")]).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ModelError);
  expect(error).toMatchObject({ kind: "overloaded", retryable: true, status: 429, retryAfterMs: 7000 });
  await expect(collectParts(model, [user("x")])).rejects.toThrow();
  expect(await collectParts(model, [user("x")])).toMatchObject([{ text: "a" }, { text: "b" }, { type: "finish" }]);
  const always = createModel([{ fail: 401 }]);
  for (let n = 0; n < 3; n++)
    await expect(collectParts(always, [user("x")])).rejects.toMatchObject({ kind: "auth", retryable: false });
});

test("an unresolvable expression fails with its name", async () => {
  const model = createModel([{ text: "{{ results.bash.stdout }}" }]);
  await expect(collectParts(model, [user("x")])).rejects.toThrow("{{ results.bash.stdout }}");
  const deep: ModelMessage[] = [
    user("x"),
    { role: "assistant", content: "" },
    { role: "tool", callId: "1", name: "t", content: "text" },
  ];
  await expect(
    collectParts(createModel([{ steps: [{ call: { tool: "t" } }, { text: "{{ results.t.constructor }}" }] }]), deep),
  ).rejects.toMatchObject({ kind: "refused" });
});

test("an abort ends a wait at once", async () => {
  const stop = new AbortController();
  const model = createModel([{ steps: [{ text: "a" }, { wait: 600_000 }, { text: "b" }] }]);
  const seen: ModelPart[] = [];
  await expect(async () => {
    for await (const batch of model.stream({ system: "", messages: [user("x")], tools: [] }, stop.signal)) {
      seen.push(...batch);
      setTimeout(() => stop.abort(), 1);
    }
  }).rejects.toMatchObject({ name: "AbortError" });
  expect(seen).toEqual([{ type: "text", text: "a" }]);
});

test("with a pace the text is streamed word by word without loss", async () => {
  const text = "  Three small words,\n\nand more.  ";
  const response = await collectParts(createModel({ pace: 1, exchanges: [{ text }] }), [user("x")]);
  const words = response.flatMap((part) => (part.type === "text" ? [part.text] : []));
  expect(words.length).toBeGreaterThan(4);
  expect(words.join("")).toBe(text);
});

test("the tour is a valid script that sets a title, completes a plan, and says what it is", async () => {
  const model = createModel({ ...tour, pace: 0 });
  const messages = [user("hello")];
  const transcript = await play(model, messages);
  const calls = transcript.filter(Array.isArray) as [string, { todos?: { status: string }[] }][];
  expect(calls[0]).toEqual(["set_title", { title: expect.any(String) }]);
  expect(calls.at(-1)?.[1].todos?.every(({ status }) => status === "completed")).toBe(true);
  expect(transcript.join(" ")).toMatch(/scripted model.*ANTHROPIC_API_KEY/s);
  const ask = async (text: string) => (await play(model, [...messages, user(text)])).join(" ");
  expect(await ask("Which models can I use?")).toContain("LLM_API_BASE");
  expect(await ask("help!")).toContain("thinkery new");
  expect(await ask("why is the sky blue")).toContain("only a script");
});
