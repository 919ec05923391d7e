import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { getRepeatCount } from "../../../../../tests/kit/sample.ts";
import { type MergedText, mergeText } from "./merge.ts";
import { editText, createHardPairs, createText } from "./texts.fixture.ts";

const names = { mine: "now", theirs: "before" };

function merge(base: string, mine: string, theirs: string): MergedText {
  return mergeText({ base, mine, theirs, names });
}

const lines = (...items: string[]) => items.map((item) => `${item}\n`).join("");

test("the changed side wins over an unchanged one, and identical changes merge into one", () => {
  const random = createRandom("merges of two");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 500, full: 2_000 }); round += 1) {
    const base = createText(random);
    const other = editText(random, base);
    expect(merge(base, other, base)).toEqual({ text: other, overlaps: [] });
    expect(merge(base, base, other)).toEqual({ text: other, overlaps: [] });
    expect(merge(base, other, other)).toEqual({ text: other, overlaps: [] });
  }
});

test("swapping mine and theirs yields the same overlaps", () => {
  const random = createRandom("merges both ways");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 750, full: 3_000 }); round += 1) {
    const base = createText(random).replaceAll("\r", "");
    const [mine, theirs] = [editText(random, base).replaceAll("\r", ""), editText(random, base).replaceAll("\r", "")];
    const one = merge(base, mine, theirs);
    const other = merge(base, theirs, mine);
    const swapped = other.overlaps.map(({ line, mine, theirs }) => ({ line, mine: theirs, theirs: mine }));
    // Line numbers are equal too: the number of lines between markers does not depend on the order.
    expect(one.overlaps).toEqual(swapped);
    if (one.overlaps.length === 0) expect(one.text).toBe(other.text);
    for (const { line } of one.overlaps) expect(one.text.split("\n")[line - 1]).toBe("<<<<<<< now");
  }
});

test("any number of edits to separate lines merge without overlaps", () => {
  const random = createRandom("merges of lines apart");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 250, full: 1_000 }); round += 1) {
    const base = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const mine = [...base];
    const theirs = [...base];
    const both = [...base];
    for (let index = 0; index < base.length; index += 1) {
      if (!random.chance(0.3)) continue;
      const edit = random.pick([`new ${index}`, `new ${index}\nand more`, `line ${index}\nadded ${index}`]);
      (random.chance(0.5) ? mine : theirs)[index] = edit;
      both[index] = edit;
      // Two insertions into the same gap would overlap.
      index += 1;
    }
    expect(merge(lines(...base), lines(...mine), lines(...theirs))).toEqual({ text: lines(...both), overlaps: [] });
  }
});

describe("by lines", () => {
  const base = lines("a", "b", "c", "d", "e");

  test("edits of adjacent lines are both kept", () => {
    expect(merge(base, lines("a", "B", "c", "d", "e"), lines("a", "b", "C", "d", "e"))).toEqual({
      text: lines("a", "B", "C", "d", "e"),
      overlaps: [],
    });
  });

  test("insertions before and after an edited line are kept", () => {
    expect(merge(base, lines("a", "b", "x", "c", "d", "e"), lines("a", "b", "C", "d", "e")).text).toBe(
      lines("a", "b", "x", "C", "d", "e"),
    );
    expect(merge(base, lines("a", "b", "c", "x", "d", "e"), lines("a", "b", "C", "d", "e")).text).toBe(
      lines("a", "b", "C", "x", "d", "e"),
    );
  });

  test("two edits of the same line are both kept between markers", () => {
    expect(merge(base, lines("a", "b", "mine", "d", "e"), lines("a", "b", "theirs", "d", "e"))).toEqual({
      text: lines("a", "b", "<<<<<<< now", "mine", "=======", "theirs", ">>>>>>> before", "d", "e"),
      overlaps: [{ line: 3, mine: "mine", theirs: "theirs" }],
    });
  });

  test("lines that both edits have in common are outside the markers", () => {
    expect(merge(base, lines("a", "same", "mine", "end", "e"), lines("a", "same", "theirs", "end", "e")).text).toBe(
      lines("a", "same", "<<<<<<< now", "mine", "=======", "theirs", ">>>>>>> before", "end", "e"),
    );
  });

  test("two insertions at the same position are both kept, unless they are identical", () => {
    expect(merge(base, lines("a", "x", "b", "c", "d", "e"), lines("a", "y", "b", "c", "d", "e")).overlaps).toEqual([
      { line: 2, mine: "x", theirs: "y" },
    ]);
    expect(merge(base, lines("a", "x", "b", "c", "d", "E"), lines("A", "x", "b", "c", "d", "e"))).toEqual({
      text: lines("A", "x", "b", "c", "d", "E"),
      overlaps: [],
    });
  });

  test("deleting lines that the other side edited is an overlap", () => {
    expect(merge(base, lines("a", "e"), lines("a", "b", "C", "d", "e")).overlaps).toEqual([
      { line: 2, mine: "", theirs: "b\nC\nd" },
    ]);
  });

  test("a long edit that spans two short ones is one overlap", () => {
    const merged = merge(base, lines("a", "new", "e"), lines("a", "B", "c", "D", "e"));
    expect(merged.overlaps).toEqual([{ line: 2, mine: "new", theirs: "B\nc\nD" }]);
  });

  test("a reported overlap is truncated without splitting a character", () => {
    const [overlap] = merge("", "😀".repeat(5_000), `x${"😀".repeat(5_000)}`).overlaps;
    expect(overlap?.mine).toBe("😀".repeat(1_000));
    expect(overlap?.theirs).toBe(`x${"😀".repeat(999)}`);
  });

  test("a name with line breaks stays on the marker's line", () => {
    expect(mergeText({ base: "a", mine: "b", theirs: "c", names: { mine: "x\n=======\ny", theirs: "z" } }).text).toBe(
      "<<<<<<< x ======= y\nb\n=======\nc\n>>>>>>> z",
    );
  });
});

describe("line endings", () => {
  const toCrlf = (text: string) => text.replaceAll("\n", "\r\n");
  const base = lines("a", "b", "c");

  test("a file keeps its line endings", () => {
    expect(merge(toCrlf(base), toCrlf(lines("A", "b", "c")), toCrlf(lines("a", "b", "C"))).text).toBe(
      toCrlf(lines("A", "b", "C")),
    );
    expect(merge(toCrlf(base), toCrlf(lines("A", "b", "c")), toCrlf(lines("B", "b", "c"))).text).toBe(
      toCrlf(lines("<<<<<<< now", "A", "=======", "B", ">>>>>>> before", "b", "c")),
    );
  });

  test("changing all line endings causes no overlap", () => {
    expect(merge(base, toCrlf(base), lines("a", "B", "c"))).toEqual({
      text: toCrlf(lines("a", "B", "c")),
      overlaps: [],
    });
    expect(merge(toCrlf(base), toCrlf(lines("a", "B", "c")), base)).toEqual({
      text: lines("a", "B", "c"),
      overlaps: [],
    });
  });

  test("if they are mixed, each line keeps its own", () => {
    expect(merge("a\r\nb\nc\r\n", "A\r\nb\nc\r\n", "a\r\nb\nC\r\n").text).toBe("A\r\nb\nC\r\n");
  });

  test("a last line without one can be edited, extended and terminated", () => {
    expect(merge("a\nb", "a\nb\n", "A\nb").text).toBe("A\nb\n");
    expect(merge("a\nb", "a\nb\n", "a\nb\nc")).toEqual({ text: "a\nb\nc\n", overlaps: [] });
    expect(merge("a\nb", "A\nb", "a\nb\nc").text).toBe("A\nb\nc");
    expect(merge("a\nb\n", "a\nb", "A\nb\n").text).toBe("A\nb");
  });
});

describe.each([49_000, 400_000])("%d lines that both sides rewrote are merged", (count) => {
  test.each(Object.entries(createHardPairs(count)))("%s", (_, [base, other]) => {
    const start = base.slice(0, base.length / 2);
    const result = merge(base, `${other}\nmine`, `${start}\ntheirs`);
    for (const { line } of result.overlaps.slice(0, 3)) expect(result.text.split("\n")[line - 1]).toBe("<<<<<<< now");
    expect(result.text).toMatch(/^mine$/m);
    expect(result.text).toMatch(/^theirs$/m);
  });
});
