import { expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { getRepeatCount } from "../../../../../tests/kit/sample.ts";
import { type Block, diffSequences } from "./sequence.ts";

const splitChars = (text: string) => Array.from(text);

/** Length of the longest common subsequence, by brute force. */
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

test("items outside the blocks are equal in both lists, and blocks do not touch", () => {
  const random = createRandom("blocks");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 750, full: 3_000 }); round += 1) {
    const [a, b] = [0, 1].map(() =>
      splitChars(random.text(random.below(30), random.pick(["ab", "abcdef", "abcdefghijklmnopqrst"]))),
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

test("among repeated items, the edit is the shortest possible", () => {
  const random = createRandom("shortest edits");
  let compared = 0;
  for (let round = 0; round < getRepeatCount("random texts", { sample: 1_000, full: 4_000 }); round += 1) {
    const [a, b] = [0, 1].map(() => splitChars(`x${random.text(2 + random.below(25), "abc")}x`)) as [
      string[],
      string[],
    ];
    // An item that occurs once in both, or once between two fixed points, is a fixed point even if the edit gets
    // longer.
    const blocks = diffSequences(a, b);
    const inner = [
      blocks[0]?.from ?? 0,
      blocks.at(-1)?.to ?? 0,
      blocks[0]?.newFrom ?? 0,
      blocks.at(-1)?.newTo ?? 0,
    ] as const;
    const count = (list: readonly string[], letter: string) => list.filter((item) => item === letter).length;
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

test("lines that occur once in both are fixed points, and only lines between them change", () => {
  const a = ["one {", "}", "two {", "}", "three {", "}"];
  const b = ["one {", "}", "new {", "}", "two {", "}", "three {", "more", "}"];
  expect(diffSequences(a, b)).toEqual([
    { from: 2, to: 2, newFrom: 2, newTo: 4 },
    { from: 5, to: 5, newFrom: 7, newTo: 8 },
  ]);
  expect(diffSequences(a, a)).toEqual([]);
  expect(diffSequences([], ["x"])).toEqual([{ from: 0, to: 0, newFrom: 0, newTo: 1 }]);
});
