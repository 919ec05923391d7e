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
import { shortenResult } from "./transcript.ts";

const turn = "now";

const entry = (position: number, of: string, message: ModelMessage, step?: number): TranscriptEntry => ({
  position,
  turn: of,
  message,
  ...(step ? { step } : {}),
  tokens: estimateMessageTokens(message),
});

/** A conversation as it may have come about: turns with steps, results of all sizes, steering in between. */
function createConversation(chance: Random, length: number): TranscriptEntry[] {
  const told: TranscriptEntry[] = [];
  let position = 0;
  const add = (message: ModelMessage, of: string, step?: number) =>
    told.push(entry((position += 1 + chance.below(3)), of, message, step));
  const text = (most: number) => chance.text(7).repeat(1 + chance.below(most / 7));
  for (let number = 0; told.length < length; number++) {
    const of = told.length + 12 >= length ? turn : `turn-${number}`;
    if (chance.chance(0.2)) {
      add({ role: "user", content: text(300) }, of);
      add({ role: "assistant", content: text(300) }, of);
    }
    add({ role: "user", content: text(chance.chance(0.1) ? 20_000 : 800) }, of);
    const steps = 1 + chance.below(6);
    for (let step = 1; step <= steps; step++) {
      const calls = step === steps && of !== turn ? 0 : 1 + chance.below(3);
      const toolCalls = Array.from({ length: calls }, (_, n) => ({
        id: `${number}-${step}-${n}`,
        name: "look",
        input: { text: text(chance.chance(0.05) ? 5_000 : 50) },
      }));
      add(
        { role: "assistant", content: chance.chance(0.7) ? text(500) : "", ...(calls ? { toolCalls } : {}) },
        of,
        step,
      );
      for (const { id, name } of toolCalls) {
        const images = chance.chance(0.05) ? { images: [{ mediaType: "image/png", data: new Uint8Array(3) }] } : {};
        add({ role: "tool", callId: id, name, content: text(chance.chance(0.2) ? 30_000 : 900), ...images }, of);
      }
      if (chance.chance(0.1)) add({ role: "user", content: text(200) }, of);
    }
    if (of === turn) break;
  }
  return told;
}

const sum = (told: readonly TranscriptEntry[], upTo: number) =>
  told.reduce(
    (total, { position, message }) =>
      total + estimateMessageTokens(position <= upTo ? shortenResult(message) : message),
    0,
  );

function findOrphans(told: readonly TranscriptEntry[]): string[] {
  const called = new Set<string>();
  return told.flatMap(({ message }) => {
    if (message.role === "assistant") for (const { id } of message.toolCalls ?? []) called.add(id);
    return message.role === "tool" && !called.has(message.callId) ? [message.callId] : [];
  });
}

test("whatever was said, what is kept has its calls, fits, and is smaller than before", () => {
  const chance = createRandom("compaction");
  let [short, cut, none] = [0, 0, 0];
  for (let round = 0; round < 400; round++) {
    const told = createConversation(chance, 1 + chance.below(chance.pick([3, 30, 300])));
    const scale = chance.pick([1, 1, 1.7, 3]);
    const fixed = chance.below(4_000);
    const all = scale * (fixed + sum(told, 0));
    const measure: Measure = { limit: Math.ceil(all / (compactionThreshold + chance.below(100) / 100)), fixed, scale };
    const plan = planCompaction(told, measure, turn);
    const about = `round ${round}, SEED=${chance.seed}`;
    if (!plan) {
      none++;
      continue;
    }
    if (plan.cut === undefined) {
      short++;
      expect(plan.after, about).toBeCloseTo(scale * (fixed + sum(told, plan.shortened)), 3);
      expect(plan.after, about).toBeLessThanOrEqual(0.6 * measure.limit);
      continue;
    }
    cut++;
    const tail = told.slice(plan.cut);
    expect(plan.cut, about).toBeGreaterThan(0);
    expect(tail[0]?.message.role, about).not.toBe("tool");
    expect(findOrphans(tail), about).toEqual([]);
    const lost = findRequest(told, turn).filter((index) => index < (plan.cut ?? 0));
    const kept = scale * (fixed + sum(tail, plan.shortened));
    const repeated =
      scale *
      sum(
        lost.map((index) => told[index]!),
        0,
      );
    expect(plan.after, about).toBeCloseTo(kept + Math.min(repeated, 0.2 * measure.limit), 3);
    // There is room for a summary and for an answer, and it is worth it.
    expect(plan.after, about).toBeLessThanOrEqual(0.9 * measure.limit);
    expect(plan.after, about).toBeLessThan(all);
    // More than usual is kept of the last step alone, and only where it fits.
    if (scale * sum(tail, plan.shortened) > 0.3 * measure.limit) expect(plan.cut, about).toBe(findCuts(told).at(-1));
  }
  // All three do happen.
  expect(
    [short, cut, none].every((times) => times > 0),
    `${short} ${cut} ${none}`,
  ).toBe(true);
});

const user = (position: number, content: string, of = turn) => entry(position, of, { role: "user", content });
const said = (position: number, content: string, of = turn) => entry(position, of, { role: "assistant", content }, 1);
const called = (position: number, id: string) =>
  entry(position, turn, { role: "assistant", content: "", toolCalls: [{ id, name: "look", input: {} }] }, 1);
const result = (position: number, id: string, chars: number) =>
  entry(position, turn, { role: "tool", callId: id, name: "look", content: "r".repeat(chars) });

const measure = (limit: number, fixed = 100): Measure => ({ limit, fixed, scale: 1 });

test("old results are shortened first, and those of the last two steps are not", () => {
  const told = [
    user(1, "go"),
    ...[1, 2, 3, 4].flatMap((n) => [called(n * 10, `c${n}`), result(n * 10 + 1, `c${n}`, 7_000)]),
  ];
  expect(planCompaction(told, measure(9_000), turn)).toMatchObject({ shortened: 29 });
  expect(planCompaction(told, measure(9_000), turn)?.cut).toBeUndefined();
});

test("what was shortened before is no gain: then comes the summary, with the tail that fits", () => {
  const told = [
    ...Array.from({ length: 20 }, (_, n) => user(n * 2 + 1, "u".repeat(700), "old")),
    user(100, "go"),
    called(110, "c"),
    result(111, "c", 700),
  ];
  const plan = planCompaction(told, measure(4_000), turn, { runId: "before", shortened: 90 });
  expect(plan).toMatchObject({ shortened: 90 });
  // The earliest cut that fits: one message more would be too much.
  expect(sum(told.slice(plan?.cut), 90)).toBeLessThanOrEqual(1_200);
  expect(sum(told.slice((plan?.cut ?? 0) - 1), 90)).toBeGreaterThan(1_200);
});

test("the last step stays in sight, its results shortened where they are too large", () => {
  const told = [user(1, "go"), called(10, "a"), result(11, "a", 3_000), called(20, "b"), result(21, "b", 40_000)];
  expect(planCompaction(told, measure(5_000), turn)).toMatchObject({ cut: 3, shortened: 21 });
});

test("a request that is too large is all that is left, and one that cannot be made smaller is left alone", () => {
  expect(planCompaction([user(1, "x".repeat(70_000))], measure(5_000), turn)).toMatchObject({
    cut: 1,
    after: 100 + 1_000,
  });
  expect(planCompaction([user(1, "hello")], measure(5_000, 4_900), turn)).toBeUndefined();
  expect(planCompaction([user(1, "hello")], measure(5_000), turn)).toBeUndefined();
  expect(planCompaction([], measure(5_000), turn)).toBeUndefined();
});

test("a request that an earlier compaction of the turn kept is kept again", () => {
  const told = Array.from({ length: 20 }, (_, n) => said(n + 1, "s".repeat(700)));
  const before = { shortened: 0, summary: "so far", request: "q".repeat(700) };
  const sizeOf = (runId: string) => {
    const { cut = 0, after = 0 } = planCompaction(told, measure(4_000), turn, { ...before, runId }) ?? {};
    return after - 100 - sum(told.slice(cut), 0);
  };
  expect(sizeOf(turn)).toBe(200);
  expect(sizeOf("another")).toBe(0);
});

test("what another turn was asked for becomes a part of the summary", () => {
  const before = { runId: "before", upTo: 5, summary: "so far", request: "do it" };
  expect(getPreviousSummary(before, "before")).toEqual({ upTo: 5, summary: "so far", request: "do it" });
  expect(getPreviousSummary(before, turn)).toEqual({ upTo: 5, summary: "so far\n\nThe user then asked:\ndo it" });
  expect(getPreviousSummary({}, turn)).toEqual({});
});

test("the request is what was said to the turn, not the conversation that came with it", () => {
  const given = (position: number, content: string) => entry(position, turn, { role: "assistant", content });
  expect(
    findRequest(
      [
        user(1, "old", "before"),
        said(2, "old", "before"),
        user(3, "handed in"),
        given(4, "handed in"),
        user(5, "go"),
        said(6, "yes"),
        user(7, "and steer"),
      ],
      turn,
    ),
  ).toEqual([4, 6]);
  expect(findRequest([user(1, "handed in"), user(2, "handed in"), user(3, "go")], turn)).toEqual([2]);
  // Its beginning may have gone into a summary already.
  expect(findRequest([said(6, "yes"), user(7, "and steer"), said(8, "yes")], turn)).toEqual([1]);
});

test("pages hold what was said in order, and none is too long", () => {
  const chance = createRandom("pages");
  for (let round = 0; round < 50; round++) {
    const told = createConversation(chance, 1 + chance.below(200));
    const maxChars = 2_000 + chance.below(50_000);
    const pages = splitPages(told, maxChars);
    for (const page of pages) expect(page.length, `round ${round}, SEED=${chance.seed}`).toBeLessThanOrEqual(maxChars);
    expect(pages.length).toBeLessThanOrEqual(12);
  }
  const told = Array.from({ length: 30 }, (_, n) => user(n, `message ${n}`));
  expect(splitPages(told, 100).join("\n\n").match(/\d+/g)?.map(Number)).toEqual(told.map((_, n) => n));
});

test("a text that is cut down keeps both ends, says so, and is as short as it has to be", () => {
  expect(truncateMiddle("short", 100)).toBe("short");
  const cut = truncateMiddle(`begin ${"😀".repeat(5_000)} end`, 500);
  expect(cut).toMatch(/^begin .*\n\[… 10010 characters in all.*\]\n.* end$/su);
  expect(cut.length).toBeLessThanOrEqual(500);
  expect(cut.isWellFormed()).toBe(true);
  expect(getMaxChars({ limit: 10_000, fixed: 0, scale: 2 })).toEqual({ summary: 2_100, request: 3_500 });
});
