import { expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { buildAutomaton } from "./automaton.ts";
import { Matcher } from "./matcher.ts";
import { anyCharacter, type PathPattern, type Token, toSteps } from "./path-pattern.ts";

const code = (text: string) => text.codePointAt(0) as number;
const segment = (text: string) => Array.from(text, code);

test("with and without a cache, texts match the same, and the work is linear", () => {
  const chance = createRandom("matcher");
  const length = 12;
  // So many sets of positions are possible here that the cache is given up.
  const pattern: PathPattern = [["*", code("a"), ...Array<Token>(length).fill(anyCharacter)]];
  const expression = new RegExp(`^[^/]*a[^/]{${length}}$`);
  const matcher = new Matcher([toSteps(pattern)]);
  const perText: number[] = [];
  for (let round = 0; round < 1_000; round++) {
    const text = chance.text(100, "ab");
    const before = matcher.steps;
    expect(matcher.matches(text), `${text}, SEED=${chance.seed}`).toBe(expression.test(text));
    perText.push(matcher.steps - before);
  }
  // Two for each of the positions, and one for a lookup.
  expect(Math.max(...perText)).toBeLessThanOrEqual(100 * (2 * (length + 2) + 1));
  // Without a cache, no character is a single lookup.
  expect(perText.at(-1)).toBeGreaterThan(100 * 2);
});

test("alternatives share their beginnings and their ends", () => {
  const alternatives = ["cat", "bat", "car", "bar"].map((name) => toSteps([segment(name), "**", segment("long-name")]));
  const { nodes, starts } = buildAutomaton(alternatives);
  // c|b, a, t|r, /, folders, and nine letters, with one node before each and one behind all.
  expect([nodes.length, starts.length]).toEqual([1 + 1 + 1 + 1 + 1 + 9 + 1, 1]);
});

test("an empty list of alternatives matches nothing", () => {
  expect(new Matcher([]).matches("a")).toBe(false);
});
