import { validateScript } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { ModelError } from "../error.ts";
import type { ModelMessage, ModelPart } from "../model.ts";
import { createScriptedModel } from "./scripted.ts";
import { tour } from "./tour.ts";

function modelOf(written: unknown) {
  const { script, problems } = validateScript(written);
  if (!script) throw new Error(JSON.stringify(problems));
  return createScriptedModel("scripted:test", script);
}

async function parts(
  model: ReturnType<typeof modelOf>,
  messages: ModelMessage[],
  signal = new AbortController().signal,
) {
  const all: ModelPart[] = [];
  for await (const batch of model.stream({ system: "", messages, tools: [] }, signal)) all.push(...batch);
  return all;
}

/** Plays a turn as the runtime does: answers go back in, calls get results, until an answer has no calls. */
async function play(
  model: ReturnType<typeof modelOf>,
  messages: ModelMessage[],
  results: (name: string) => string = () => "ok",
) {
  const transcript: unknown[] = [];
  for (;;) {
    const answer = await parts(model, messages);
    const text = answer.map((part) => (part.type === "text" ? part.text : "")).join("");
    const toolCalls = answer.flatMap((part) => (part.type === "tool-call" ? [part.call] : []));
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

test("an exchange is cut into answers at its calls, and results fill its expressions", async () => {
  expect(await play(modelOf(two), [user("Add 1 and 2")], sum)).toEqual([
    "first ",
    ["sum", { of: "Add 1 and 2" }],
    "it is 3",
    ["a", {}],
    ["b", { value: 3, text: 'n={"value":3}' }],
    "done in turn 1",
  ]);
});

test("it plays on from the messages alone: another model in the middle goes on in the same way", async () => {
  const whole: ModelMessage[] = [user("add")];
  const expected = await play(modelOf(two), whole, sum);
  // The conversation is cut after each message that is not an answer, and a new model finishes it.
  for (const [at, { role }] of whole.entries()) {
    const next = whole[at + 1]?.role;
    if (role === "assistant" || next === "tool") continue;
    const resumed = whole.slice(0, at + 1);
    await play(modelOf(two), resumed, sum);
    expect(resumed.map(({ content }) => content)).toEqual(whole.map(({ content }) => content));
  }
  expect(expected).toHaveLength(6);
});

test("exchanges without a pattern are used in order and the last repeats; patterned ones take nobody's place", async () => {
  const model = modelOf(two);
  const messages: ModelMessage[] = [];
  const texts: unknown[] = [];
  for (const text of ["x", "add", "y", "z"]) {
    messages.push(user(text));
    texts.push((await play(model, messages, sum)).at(-1));
  }
  expect(texts).toEqual(["one", "done in turn 2", "two", "two"]);
});

test("messages in a row are one, and the last of them is answered; one in the middle of a turn begins anew", async () => {
  const model = modelOf(two);
  expect(await play(model, [user("x"), user("y")])).toEqual(["one"]);
  const steered: ModelMessage[] = [
    user("add"),
    { role: "assistant", content: "" },
    { role: "tool", callId: "1", name: "sum", content: "1" },
    user("stop"),
  ];
  expect(await play(model, steered)).toEqual(["one"]);
});

test("patterns are text in any case, expressions between slashes, or expressions alone", async () => {
  const say = (when: string) => ({ when, steps: [{ text: when }] });
  const model = modelOf([say("/^exact$/"), say("C++"), say("order \\d+"), { steps: [{ text: "else" }] }]);
  const heard = async (text: string) => (await play(model, [user(text)]))[0];
  expect(await heard("exact")).toBe("/^exact$/");
  expect(await heard("inexact")).toBe("else");
  expect(await heard("i like c++")).toBe("C++");
  expect(await heard("Order 66")).toBe("order \\d+");
});

test("a script that has nothing left to say stops", async () => {
  const model = modelOf([{ when: "only this", text: "yes" }]);
  expect(await parts(model, [user("something else")])).toEqual([
    expect.objectContaining({ type: "finish", reason: "stop" }),
  ]);
});

test("usage is estimated, and calls finish as calls", async () => {
  const answer = await parts(modelOf([{ call: { tool: "t" } }]), [user("12345678")]);
  expect(answer.at(-1)).toEqual({
    type: "finish",
    reason: "tool-calls",
    usage: { inputTokens: 2, outputTokens: expect.any(Number) },
  });
});

test("call ids are never the same twice", async () => {
  const model = modelOf([{ calls: [{ tool: "t" }, { tool: "t" }] }]);
  const ids = [...(await parts(model, [user("a")])), ...(await parts(model, [user("a")]))].flatMap((part) =>
    part.type === "tool-call" ? [part.call.id] : [],
  );
  expect(new Set(ids).size).toBe(4);
});

test("a failure is what that HTTP status would be; with `times` it passes, without it stays", async () => {
  const model = modelOf([
    { steps: [{ text: "a" }, { fail: { status: 429, times: 2, retryAfter: 7 } }, { text: "b" }] },
  ]);
  const error = await parts(model, [user("x")]).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(ModelError);
  expect(error).toMatchObject({ kind: "overloaded", passing: true, status: 429, retryAfterMs: 7000 });
  await expect(parts(model, [user("x")])).rejects.toThrow();
  expect(await parts(model, [user("x")])).toMatchObject([{ text: "a" }, { text: "b" }, { type: "finish" }]);
  const always = modelOf([{ fail: 401 }]);
  for (let n = 0; n < 3; n++)
    await expect(parts(always, [user("x")])).rejects.toMatchObject({ kind: "auth", passing: false });
});

test("an expression that leads nowhere is refused by name", async () => {
  const model = modelOf([{ text: "{{ results.bash.stdout }}" }]);
  await expect(parts(model, [user("x")])).rejects.toThrow("{{ results.bash.stdout }}");
  const deep: ModelMessage[] = [
    user("x"),
    { role: "assistant", content: "" },
    { role: "tool", callId: "1", name: "t", content: "text" },
  ];
  await expect(
    parts(modelOf([{ steps: [{ call: { tool: "t" } }, { text: "{{ results.t.constructor }}" }] }]), deep),
  ).rejects.toMatchObject({ kind: "refused" });
});

test("an abort ends a pause at once", async () => {
  const stop = new AbortController();
  const model = modelOf([{ steps: [{ text: "a" }, { wait: 600_000 }, { text: "b" }] }]);
  const seen: ModelPart[] = [];
  await expect(async () => {
    for await (const batch of model.stream({ system: "", messages: [user("x")], tools: [] }, stop.signal)) {
      seen.push(...batch);
      setTimeout(() => stop.abort(), 1);
    }
  }).rejects.toMatchObject({ name: "AbortError" });
  expect(seen).toEqual([{ type: "text", text: "a" }]);
});

test("with a pace it streams word by word, and nothing of the text is lost", async () => {
  const text = "  Three small words,\n\nand more.  ";
  const answer = await parts(modelOf({ pace: 1, exchanges: [{ text }] }), [user("x")]);
  const words = answer.flatMap((part) => (part.type === "text" ? [part.text] : []));
  expect(words.length).toBeGreaterThan(4);
  expect(words.join("")).toBe(text);
});

test("the tour is a valid script that titles, plans, ticks off, and says what it is", async () => {
  const model = modelOf({ ...tour, pace: 0 });
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
