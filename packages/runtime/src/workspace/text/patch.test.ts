import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { getRepeatCount } from "../../../../../tests/kit/sample.ts";
import { splitLines } from "./lines.ts";
import { applyPatch, listChangedBlocks, createPatch, reversePatch, revertPatch } from "./patch.ts";
import { editText, createHardPairs, createText } from "./texts.fixture.ts";

test("a patch converts any text to any other, and back", () => {
  const random = createRandom("patches");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 1_250, full: 5_000 }); round += 1) {
    const before = createText(random);
    const after = random.chance(0.5) ? editText(random, before) : createText(random);
    const patch = createPatch(before, after);
    expect(applyPatch(before, patch)).toBe(after);
    expect(revertPatch(after, patch)).toBe(before);
    let end = -1;
    for (const [offset, removed, inserted] of patch) {
      expect(offset).toBeGreaterThan(end);
      expect(removed + inserted).not.toBe("");
      expect(removed.isWellFormed() && inserted.isWellFormed()).toBe(true);
      end = offset + removed.length;
    }
    expect(reversePatch(reversePatch(patch))).toEqual(patch);
  }
});

test.each([
  ["a letter", "one two three\n", "one two! three\n", [[7, "", "!"]]],
  [
    "words on two lines",
    "let a = 1;\nsame\nlet b = 2;\n",
    "let a = 10;\nsame\nlet c = 2;\n",
    [
      [9, "", "0"],
      [20, "b", "c"],
    ],
  ],
  [
    "adjacent lines",
    "a1\nb1\nc1\n",
    "a2\nb2\nc2\n",
    [
      [1, "1", "2"],
      [4, "1", "2"],
      [7, "1", "2"],
    ],
  ],
  ["an added line", "a\nb\n", "a\nx\nb\n", [[2, "", "x\n"]]],
  ["one of two equal characters", "😀😀", "😀", [[2, "😀", ""]]],
  ["characters with the same first half", "x😀y", "x😁y", [[1, "😀", "😁"]]],
  ["characters with the same second half", "x\u{1F600}y", "x\u{1FA00}y", [[1, "\u{1F600}", "\u{1FA00}"]]],
  ["everything", "", "abc", [[0, "", "abc"]]],
  ["nothing", "same", "same", []],
])("%s is a small patch", (_, before, after, patch) => {
  expect(createPatch(before, after)).toEqual(patch);
});

test.each([
  ["the text differs", "xyz", [[0, "a", "b"]]],
  ["the text is too short", "", [[3, "", "b"]]],
  [
    "pieces overlap",
    "abc",
    [
      [0, "ab", ""],
      [1, "b", ""],
    ],
  ],
] as const)("a patch does not apply if %s", (_, text, patch) => {
  expect(() => applyPatch(text, patch)).toThrow("does not apply");
});

describe.each([49_000, 400_000])("patches between texts of %d lines", (count) => {
  test.each(Object.entries(createHardPairs(count)))("%s", (_, [before, after]) => {
    const patch = createPatch(before, after);
    expect(applyPatch(before, patch) === after).toBe(true);
    expect(revertPatch(after, patch) === before).toBe(true);
  });
});

test("the blocks of a patch convert one list of lines to the other", () => {
  const random = createRandom("patched lines");
  for (let round = 0; round < getRepeatCount("random patched lines", { sample: 1_250, full: 5_000 }); round += 1) {
    const before = createText(random);
    const after = random.chance(0.7) ? editText(random, before) : createText(random);
    const blocks = listChangedBlocks(before, createPatch(before, after));
    const [lines, newLines] = [splitLines(before), splitLines(after)];
    let [at, newAt] = [0, 0];
    for (const { from, to, newFrom, newTo } of blocks) {
      expect(lines.slice(at, from)).toEqual(newLines.slice(newAt, newFrom));
      expect(lines.slice(from, to)).not.toEqual(newLines.slice(newFrom, newTo));
      [at, newAt] = [to, newTo];
    }
    expect(lines.slice(at)).toEqual(newLines.slice(newAt));
  }
});

test.each([
  ["an inserted line", "a\nbc\n", "a\nb\nbc\n", [{ from: 1, to: 1, newFrom: 1, newTo: 2 }]],
  ["a deleted line", "a\nb\nbc\n", "a\nbc\n", [{ from: 1, to: 2, newFrom: 1, newTo: 1 }]],
  ["an edited line", "a\nbee\nc\n", "a\nboo\nc\n", [{ from: 1, to: 2, newFrom: 1, newTo: 2 }]],
  ["a line without a line ending", "a\n", "a\nb", [{ from: 1, to: 1, newFrom: 1, newTo: 2 }]],
  ["a new file", "", "a\nb\n", [{ from: 0, to: 0, newFrom: 0, newTo: 2 }]],
])("%s is one block of lines", (_, before, after, blocks) => {
  expect(listChangedBlocks(before, createPatch(before, after))).toEqual(blocks);
});
