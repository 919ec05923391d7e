import { expect, test } from "vitest";
import { type Random, createRandom } from "../../../../../tests/kit/random.ts";
import { estimateMessageTokens } from "../../model/estimate.ts";
import type { ModelMessage } from "../../model/model.ts";
import {
  compactionThreshold,
  findCuts,
  getPreviousSummary,
  getMaxChars,
  type Measure,
  planCompaction,
  findRequest,
} from "./compaction.ts";
import { truncateMiddle, splitPages } from "./summary.ts";
import type { TranscriptEntry } from "./transcript-entry.ts";
import { truncateResult } from "./transcript.ts";

const turn = "now";

const entry = (position: number, turnId: string, message: ModelMessage, step?: number): TranscriptEntry => ({
  position,
  turn: turnId,
  message,
  ...(step ? { step } : {}),
  tokens: estimateMessageTokens(message),
});

/** A realistic random conversation: turns with steps, results of all sizes, and steering in between. */
function createConversation(chance: Random, length: number): TranscriptEntry[] {
  const entries: TranscriptEntry[] = [];
  let position = 0;
  const add = (message: ModelMessage, turnId: string, step?: number) =>
    entries.push(entry((position += 1 + chance.below(3)), turnId, message, step));
  const text = (maxChars: number) => chance.text(7).repeat(1 + chance.below(maxChars / 7));
  for (let number = 0; entries.length < length; number++) {
    const turnId = entries.length + 12 >= length ? turn : `turn-${number}`;
    if (chance.chance(0.2)) {
      add({ role: "user", content: text(300) }, turnId);
      add({ role: "assistant", content: text(300) }, turnId);
    }
    add({ role: "user", content: text(chance.chance(0.1) ? 20_000 : 800) }, turnId);
    const steps = 1 + chance.below(6);
    for (let step = 1; step <= steps; step++) {
      const calls = step === steps && turnId !== turn ? 0 : 1 + chance.below(3);
      const toolCalls = Array.from({ length: calls }, (_, n) => ({
        id: `${number}-${step}-${n}`,
        name: "look",
        input: { text: text(chance.chance(0.05) ? 5_000 : 50) },
      }));
      add(
        { role: "assistant", content: chance.chance(0.7) ? text(500) : "", ...(calls ? { toolCalls } : {}) },
        turnId,
        step,
      );
      for (const { id, name } of toolCalls) {
        const images = chance.chance(0.05) ? { images: [{ mediaType: "image/png", data: new Uint8Array(3) }] } : {};
        add({ role: "tool", callId: id, name, content: text(chance.chance(0.2) ? 30_000 : 900), ...images }, turnId);
      }
      if (chance.chance(0.1)) add({ role: "user", content: text(200) }, turnId);
    }
    if (turnId === turn) break;
  }
  return entries;
}

const sum = (entries: readonly TranscriptEntry[], upTo: number) =>
  entries.reduce(
    (total, { position, message }) =>
      total + estimateMessageTokens(position <= upTo ? truncateResult(message) : message),
    0,
  );

function findOrphans(entries: readonly TranscriptEntry[]): string[] {
  const called = new Set<string>();
  return entries.flatMap(({ message }) => {
    if (message.role === "assistant") for (const { id } of message.toolCalls ?? []) called.add(id);
    return message.role === "tool" && !called.has(message.callId) ? [message.callId] : [];
  });
}

test("for any conversation, a plan keeps results with their calls, fits, and is smaller than before", () => {
  const chance = createRandom("compaction");
  let [truncatedOnly, cut, none] = [0, 0, 0];
  for (let round = 0; round < 400; round++) {
    const entries = createConversation(chance, 1 + chance.below(chance.pick([3, 30, 300])));
    const scale = chance.pick([1, 1, 1.7, 3]);
    const fixed = chance.below(4_000);
    const all = scale * (fixed + sum(entries, 0));
    const measure: Measure = { limit: Math.ceil(all / (compactionThreshold + chance.below(100) / 100)), fixed, scale };
    const plan = planCompaction(entries, measure, turn);
    const about = `round ${round}, SEED=${chance.seed}`;
    if (!plan) {
      none++;
      continue;
    }
    if (plan.cut === undefined) {
      truncatedOnly++;
      expect(plan.after, about).toBeCloseTo(scale * (fixed + sum(entries, plan.shortened)), 3);
      expect(plan.after, about).toBeLessThanOrEqual(0.6 * measure.limit);
      continue;
    }
    cut++;
    const tail = entries.slice(plan.cut);
    expect(plan.cut, about).toBeGreaterThan(0);
    expect(tail[0]?.message.role, about).not.toBe("tool");
    expect(findOrphans(tail), about).toEqual([]);
    const removed = findRequest(entries, turn).filter((index) => index < (plan.cut ?? 0));
    const tailTokens = scale * (fixed + sum(tail, plan.shortened));
    const repeated =
      scale *
      sum(
        removed.map((index) => entries[index]!),
        0,
      );
    expect(plan.after, about).toBeCloseTo(tailTokens + Math.min(repeated, 0.2 * measure.limit), 3);
    // There is room for a summary and a response, and the conversation got smaller.
    expect(plan.after, about).toBeLessThanOrEqual(0.9 * measure.limit);
    expect(plan.after, about).toBeLessThan(all);
    // Only the last step may exceed the usual share, and only if it fits.
    if (scale * sum(tail, plan.shortened) > 0.3 * measure.limit) expect(plan.cut, about).toBe(findCuts(entries).at(-1));
  }
  // All three cases occur.
  expect(
    [truncatedOnly, cut, none].every((count) => count > 0),
    `${truncatedOnly} ${cut} ${none}`,
  ).toBe(true);
});

const user = (position: number, content: string, turnId = turn) => entry(position, turnId, { role: "user", content });
const response = (position: number, content: string, turnId = turn) =>
  entry(position, turnId, { role: "assistant", content }, 1);
const call = (position: number, id: string) =>
  entry(position, turn, { role: "assistant", content: "", toolCalls: [{ id, name: "look", input: {} }] }, 1);
const result = (position: number, id: string, chars: number) =>
  entry(position, turn, { role: "tool", callId: id, name: "look", content: "r".repeat(chars) });

const measure = (limit: number, fixed = 100): Measure => ({ limit, fixed, scale: 1 });

test("old results are truncated first, except those of the last two steps", () => {
  const entries = [
    user(1, "go"),
    ...[1, 2, 3, 4].flatMap((n) => [call(n * 10, `c${n}`), result(n * 10 + 1, `c${n}`, 7_000)]),
  ];
  expect(planCompaction(entries, measure(9_000), turn)).toMatchObject({ shortened: 29 });
  expect(planCompaction(entries, measure(9_000), turn)?.cut).toBeUndefined();
});

test("if results are already truncated, older messages are summarized and the tail that fits is kept", () => {
  const entries = [
    ...Array.from({ length: 20 }, (_, n) => user(n * 2 + 1, "u".repeat(700), "old")),
    user(100, "go"),
    call(110, "c"),
    result(111, "c", 700),
  ];
  const plan = planCompaction(entries, measure(4_000), turn, { runId: "before", shortened: 90 });
  expect(plan).toMatchObject({ shortened: 90 });
  // The earliest cut that fits: one more message would not.
  expect(sum(entries.slice(plan?.cut), 90)).toBeLessThanOrEqual(1_200);
  expect(sum(entries.slice((plan?.cut ?? 0) - 1), 90)).toBeGreaterThan(1_200);
});

test("the last step is kept, with its results truncated if they are too large", () => {
  const entries = [user(1, "go"), call(10, "a"), result(11, "a", 3_000), call(20, "b"), result(21, "b", 40_000)];
  expect(planCompaction(entries, measure(5_000), turn)).toMatchObject({ cut: 3, shortened: 21 });
});

test("a large request is cut down to its share, and a conversation that cannot get smaller is left alone", () => {
  expect(planCompaction([user(1, "x".repeat(70_000))], measure(5_000), turn)).toMatchObject({
    cut: 1,
    after: 100 + 1_000,
  });
  expect(planCompaction([user(1, "hello")], measure(5_000, 4_900), turn)).toBeUndefined();
  expect(planCompaction([user(1, "hello")], measure(5_000), turn)).toBeUndefined();
  expect(planCompaction([], measure(5_000), turn)).toBeUndefined();
});

test("a request kept by an earlier compaction of the same turn is kept again", () => {
  const entries = Array.from({ length: 20 }, (_, n) => response(n + 1, "s".repeat(700)));
  const previous = { shortened: 0, summary: "so far", request: "q".repeat(700) };
  const measureRequest = (runId: string) => {
    const { cut = 0, after = 0 } = planCompaction(entries, measure(4_000), turn, { ...previous, runId }) ?? {};
    return after - 100 - sum(entries.slice(cut), 0);
  };
  expect(measureRequest(turn)).toBe(200);
  expect(measureRequest("another")).toBe(0);
});

test("the request of another turn becomes part of the summary", () => {
  const previous = { runId: "before", upTo: 5, summary: "so far", request: "do it" };
  expect(getPreviousSummary(previous, "before")).toEqual({ upTo: 5, summary: "so far", request: "do it" });
  expect(getPreviousSummary(previous, turn)).toEqual({ upTo: 5, summary: "so far\n\nThe user then asked:\ndo it" });
  expect(getPreviousSummary({}, turn)).toEqual({});
});

test("the request is the last message passed in and what joined later, not the rest of a passed-in conversation", () => {
  const passedIn = (position: number, content: string) => entry(position, turn, { role: "assistant", content });
  expect(
    findRequest(
      [
        user(1, "old", "before"),
        response(2, "old", "before"),
        user(3, "passed in"),
        passedIn(4, "passed in"),
        user(5, "go"),
        response(6, "yes"),
        user(7, "and steer"),
      ],
      turn,
    ),
  ).toEqual([4, 6]);
  expect(findRequest([user(1, "passed in"), user(2, "passed in"), user(3, "go")], turn)).toEqual([2]);
  // The beginning may already be summarized.
  expect(findRequest([response(6, "yes"), user(7, "and steer"), response(8, "yes")], turn)).toEqual([1]);
});

test("pages contain the messages in order, and none is too long", () => {
  const chance = createRandom("pages");
  for (let round = 0; round < 50; round++) {
    const entries = createConversation(chance, 1 + chance.below(200));
    const maxChars = 2_000 + chance.below(50_000);
    const pages = splitPages(entries, maxChars);
    for (const page of pages) expect(page.length, `round ${round}, SEED=${chance.seed}`).toBeLessThanOrEqual(maxChars);
    expect(pages.length).toBeLessThanOrEqual(12);
  }
  const entries = Array.from({ length: 30 }, (_, n) => user(n, `message ${n}`));
  expect(splitPages(entries, 100).join("\n\n").match(/\d+/g)?.map(Number)).toEqual(entries.map((_, n) => n));
});

test("a truncated text keeps both ends, says so, and is short enough", () => {
  expect(truncateMiddle("short", 100)).toBe("short");
  const cut = truncateMiddle(`begin ${"😀".repeat(5_000)} end`, 500);
  expect(cut).toMatch(/^begin .*\n\[… 10010 characters in total.*\]\n.* end$/su);
  expect(cut.length).toBeLessThanOrEqual(500);
  expect(cut.isWellFormed()).toBe(true);
  expect(getMaxChars({ limit: 10_000, fixed: 0, scale: 2 })).toEqual({ summary: 2_100, request: 3_500 });
});
