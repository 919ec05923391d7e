import { expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { buildAutomaton } from "./automaton.ts";
import { Matcher } from "./matcher.ts";
import { anyCharacter, type PathPattern, type Token, toSteps } from "./path-pattern.ts";

const code = (text: string) => text.codePointAt(0) as number;
const segment = (text: string) => Array.from(text, code);

test("texts match the same with and without a cache, and the work is linear", () => {
  const random = createRandom("matcher");
  const length = 12;
  // Here so many sets of nodes are possible that the matcher stops caching.
  const pattern: PathPattern = [["*", code("a"), ...Array<Token>(length).fill(anyCharacter)]];
  const expression = new RegExp(`^[^/]*a[^/]{${length}}$`);
  const matcher = new Matcher([toSteps(pattern)]);
  const perText: number[] = [];
  for (let round = 0; round < 1_000; round++) {
    const text = random.text(100, "ab");
    const before = matcher.steps;
    expect(matcher.matches(text), `${text}, SEED=${random.seed}`).toBe(expression.test(text));
    perText.push(matcher.steps - before);
  }
  // Two steps per position, and one for a lookup.
  expect(Math.max(...perText)).toBeLessThanOrEqual(100 * (2 * (length + 2) + 1));
  // Without a cache, every character takes more than one lookup.
  expect(perText.at(-1)).toBeGreaterThan(100 * 2);
});

test("alternatives share their beginnings and their ends", () => {
  const alternatives = ["cat", "bat", "car", "bar"].map((name) => toSteps([segment(name), "**", segment("long-name")]));
  const { nodes, starts } = buildAutomaton(alternatives);
  // c|b, a, t|r, /, folders, and nine letters: one node before each of them, and one at the end.
  expect([nodes.length, starts.length]).toEqual([1 + 1 + 1 + 1 + 1 + 9 + 1, 1]);
});

test("an empty list of alternatives matches nothing", () => {
  expect(new Matcher([]).matches("a")).toBe(false);
});
