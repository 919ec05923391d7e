import { expect, test } from "vitest";
import { createTurnState, reduceTurn, toOutcome } from "./turn-state.ts";
import type { ConversationUpdate } from "./update.ts";

const runId = "r";
const begin = (messageId: string): ConversationUpdate => ({
  kind: "draft-started",
  runId,
  messageId,
  step: 1,
  model: "x:y",
});
const write = (text: string, turn = runId): ConversationUpdate => ({
  kind: "draft-text",
  runId: turn,
  text,
  reasoning: "",
});
const complete = (messageId: string, ...calls: string[]): ConversationUpdate => ({
  kind: "message-completed",
  runId,
  messageId,
  model: "x:y",
  calls: calls.map((id) => ({ id, name: "echo", input: {} })),
});
const settle = (callId: string, failed = false): ConversationUpdate => ({
  kind: "call-settled",
  runId,
  callId,
  name: "echo",
  result: { output: callId, failed },
});
const discard: ConversationUpdate = { kind: "draft-discarded", runId };
const cancel: ConversationUpdate = { kind: "turn-ended", runId, end: { status: "canceled" } };

const reduce = (...updates: ConversationUpdate[]) => updates.reduce(reduceTurn, createTurnState(runId));
const getContent = (...updates: ConversationUpdate[]) => toOutcome(reduce(...updates), "alice")?.content;

test("a turn that ends early returns the unfinished message, or else the last one", () => {
  expect(getContent(begin("a"), write("I was "), write("saying"), cancel)).toBe("I was saying");
  expect(getContent(begin("a"), write("First."), complete("a", "c"), settle("c"), begin("b"), cancel)).toBe("First.");
  expect(getContent(begin("a"), write("First."), complete("a"), begin("b"), write("void"), discard, cancel)).toBe(
    "First.",
  );
  expect(getContent(begin("a"), write("void"), discard, cancel)).toBe("");
  expect(getContent(write("started before we connected"), cancel)).toBe("started before we connected");
  expect(toOutcome(reduce(begin("a"), write("on")), "alice")).toBeUndefined();
});

test("updates of other turns have no effect", () => {
  const turn = reduce(begin("a"), write("mine"));
  expect(reduceTurn(turn, write("theirs", "other"))).toBe(turn);
  expect(reduceTurn(turn, { kind: "title", title: "x" })).toBe(turn);
});

test("calls keep their order and get their results; a result without its call is kept too", () => {
  const { calls } = reduce(begin("a"), complete("a", "c", "d"), settle("d", true), settle("c"), settle("stray"));
  expect([...calls.values()]).toEqual([
    { id: "c", name: "echo", input: {}, output: "c" },
    { id: "d", name: "echo", input: {}, output: "d", failed: true },
    { id: "stray", name: "echo", input: undefined, output: "stray" },
  ]);
});

test("usage adds up, and one unknown price makes the cost unknown", () => {
  const use = (costUsd: number | null, cachedInputTokens?: number): ConversationUpdate => ({
    kind: "usage",
    runId,
    usage: {
      inputTokens: 10,
      outputTokens: 2,
      costUsd,
      ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    },
  });
  expect(reduce(use(0.5), use(0.25, 3)).usage).toEqual({
    inputTokens: 20,
    outputTokens: 4,
    cachedInputTokens: 3,
    costUsd: 0.75,
  });
  expect(reduce(use(null), use(1)).usage.costUsd).toBe(null);
});
