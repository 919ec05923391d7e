import { expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { getRepeatCount } from "../../../../../tests/kit/sample.ts";
import { type Block, diffSequences } from "./sequence.ts";

const splitChars = (text: string) => Array.from(text);

/** How long the longest row of items is that are in both in this order, found the slow way. */
function computeLongestCommon(a: readonly string[], b: readonly string[]): number {
  let row = Array.from({ length: b.length + 1 }, () => 0);
  for (const x of a) {
    const next = [0];
    for (const [index, y] of b.entries())
      next.push(x === y ? (row[index] as number) + 1 : Math.max(row[index + 1] as number, next[index] as number));
    row = next;
  }
  return row.at(-1) as number;
}

function countChanged(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { from, to, newFrom, newTo }) => sum + to - from + newTo - newFrom, 0);
}

test("what is outside of the blocks is the same in both, and the blocks do not touch", () => {
  const chance = createRandom("blocks");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 750, full: 3_000 }); round += 1) {
    const [a, b] = [0, 1].map(() =>
      splitChars(chance.text(chance.below(30), chance.pick(["ab", "abcdef", "abcdefghijklmnopqrst"]))),
    ) as [string[], string[]];
    let [at, newAt] = [0, 0];
    for (const { from, to, newFrom, newTo } of [
      ...diffSequences(a, b),
      { from: a.length, to: a.length + 1, newFrom: b.length, newTo: b.length },
    ]) {
      expect(a.slice(at, from)).toEqual(b.slice(newAt, newFrom));
      expect(to > from || newTo > newFrom).toBe(true);
      if (at > 0 || newAt > 0) expect(from > at || to > a.length).toBe(true);
      [at, newAt] = [to, newTo];
    }
  }
});

test("between items that repeat, no more is changed than has to be", () => {
  const chance = createRandom("shortest edits");
  let compared = 0;
  for (let round = 0; round < getRepeatCount("random texts", { sample: 1_000, full: 4_000 }); round += 1) {
    const [a, b] = [0, 1].map(() => splitChars(`x${chance.text(2 + chance.below(25), "abc")}x`)) as [
      string[],
      string[],
    ];
    // Anything that is once in both, or becomes so between two others, is a fixed point, whatever that costs.
    const blocks = diffSequences(a, b);
    const inner = [
      blocks[0]?.from ?? 0,
      blocks.at(-1)?.to ?? 0,
      blocks[0]?.newFrom ?? 0,
      blocks.at(-1)?.newTo ?? 0,
    ] as const;
    const count = (list: readonly string[], letter: string) => list.filter((one) => one === letter).length;
    if (
      ["a", "b", "c"].some(
        (letter) =>
          count(a.slice(inner[0], inner[1]), letter) === 1 && count(b.slice(inner[2], inner[3]), letter) === 1,
      )
    )
      continue;
    compared += 1;
    expect(countChanged(blocks)).toBe(a.length + b.length - 2 * computeLongestCommon(a, b));
  }
  expect(compared).toBeGreaterThan(500);
});

test("lines that are once in both stay where they are, and what is between them is what changed", () => {
  const a = ["one {", "}", "two {", "}", "three {", "}"];
  const b = ["one {", "}", "new {", "}", "two {", "}", "three {", "more", "}"];
  expect(diffSequences(a, b)).toEqual([
    { from: 2, to: 2, newFrom: 2, newTo: 4 },
    { from: 5, to: 5, newFrom: 7, newTo: 8 },
  ]);
  expect(diffSequences(a, a)).toEqual([]);
  expect(diffSequences([], ["x"])).toEqual([{ from: 0, to: 0, newFrom: 0, newTo: 1 }]);
});
