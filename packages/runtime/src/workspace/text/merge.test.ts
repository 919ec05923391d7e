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

test("whoever changed nothing has no say, and the same change is one", () => {
  const chance = createRandom("merges of two");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 500, full: 2_000 }); round += 1) {
    const base = createText(chance);
    const other = editText(chance, base);
    expect(merge(base, other, base)).toEqual({ text: other, overlaps: [] });
    expect(merge(base, base, other)).toEqual({ text: other, overlaps: [] });
    expect(merge(base, other, other)).toEqual({ text: other, overlaps: [] });
  }
});

test("who is mine and who is theirs makes no difference to what overlaps", () => {
  const chance = createRandom("merges both ways");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 750, full: 3_000 }); round += 1) {
    const base = createText(chance).replaceAll("\r", "");
    const [mine, theirs] = [editText(chance, base).replaceAll("\r", ""), editText(chance, base).replaceAll("\r", "")];
    const one = merge(base, mine, theirs);
    const other = merge(base, theirs, mine);
    const swapped = other.overlaps.map(({ line, mine, theirs }) => ({ line, mine: theirs, theirs: mine }));
    // The line differs by nothing: the lines between the markers are as many, whoever comes first.
    expect(one.overlaps).toEqual(swapped);
    if (one.overlaps.length === 0) expect(one.text).toBe(other.text);
    for (const { line } of one.overlaps) expect(one.text.split("\n")[line - 1]).toBe("<<<<<<< now");
  }
});

test("edits of lines apart from each other all survive, however many there are", () => {
  const chance = createRandom("merges of lines apart");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 250, full: 1_000 }); round += 1) {
    const base = Array.from({ length: 40 }, (_, index) => `line ${index}`);
    const mine = [...base];
    const theirs = [...base];
    const both = [...base];
    for (let index = 0; index < base.length; index += 1) {
      if (!chance.chance(0.3)) continue;
      const edit = chance.pick([`new ${index}`, `new ${index}\nand more`, `line ${index}\nadded ${index}`]);
      (chance.chance(0.5) ? mine : theirs)[index] = edit;
      both[index] = edit;
      // Two insertions into the same gap would overlap.
      index += 1;
    }
    expect(merge(lines(...base), lines(...mine), lines(...theirs))).toEqual({ text: lines(...both), overlaps: [] });
  }
});

describe("by lines", () => {
  const base = lines("a", "b", "c", "d", "e");

  test("edits of lines beside each other both survive", () => {
    expect(merge(base, lines("a", "B", "c", "d", "e"), lines("a", "b", "C", "d", "e"))).toEqual({
      text: lines("a", "B", "C", "d", "e"),
      overlaps: [],
    });
  });

  test("an insertion before and behind an edited line survives with it", () => {
    expect(merge(base, lines("a", "b", "x", "c", "d", "e"), lines("a", "b", "C", "d", "e")).text).toBe(
      lines("a", "b", "x", "C", "d", "e"),
    );
    expect(merge(base, lines("a", "b", "c", "x", "d", "e"), lines("a", "b", "C", "d", "e")).text).toBe(
      lines("a", "b", "C", "x", "d", "e"),
    );
  });

  test("two edits of one line are both kept", () => {
    expect(merge(base, lines("a", "b", "mine", "d", "e"), lines("a", "b", "theirs", "d", "e"))).toEqual({
      text: lines("a", "b", "<<<<<<< now", "mine", "=======", "theirs", ">>>>>>> before", "d", "e"),
      overlaps: [{ line: 3, mine: "mine", theirs: "theirs" }],
    });
  });

  test("what is the same in both of two edits is outside of the markers", () => {
    expect(merge(base, lines("a", "same", "mine", "end", "e"), lines("a", "same", "theirs", "end", "e")).text).toBe(
      lines("a", "same", "<<<<<<< now", "mine", "=======", "theirs", ">>>>>>> before", "end", "e"),
    );
  });

  test("two insertions at one place are both kept, unless they are the same", () => {
    expect(merge(base, lines("a", "x", "b", "c", "d", "e"), lines("a", "y", "b", "c", "d", "e")).overlaps).toEqual([
      { line: 2, mine: "x", theirs: "y" },
    ]);
    expect(merge(base, lines("a", "x", "b", "c", "d", "E"), lines("A", "x", "b", "c", "d", "e"))).toEqual({
      text: lines("A", "x", "b", "c", "d", "E"),
      overlaps: [],
    });
  });

  test("a deletion of what the other edits is an overlap", () => {
    expect(merge(base, lines("a", "e"), lines("a", "b", "C", "d", "e")).overlaps).toEqual([
      { line: 2, mine: "", theirs: "b\nC\nd" },
    ]);
  });

  test("one long edit across two short ones is one overlap", () => {
    const merged = merge(base, lines("a", "new", "e"), lines("a", "B", "c", "D", "e"));
    expect(merged.overlaps).toEqual([{ line: 2, mine: "new", theirs: "B\nc\nD" }]);
  });

  test("what is reported of an overlap is bounded, and cuts no character in two", () => {
    const [overlap] = merge("", "😀".repeat(5_000), `x${"😀".repeat(5_000)}`).overlaps;
    expect(overlap?.mine).toBe("😀".repeat(1_000));
    expect(overlap?.theirs).toBe(`x${"😀".repeat(999)}`);
  });

  test("a name with a line end in it stays in its line", () => {
    expect(mergeText({ base: "a", mine: "b", theirs: "c", names: { mine: "x\n=======\ny", theirs: "z" } }).text).toBe(
      "<<<<<<< x ======= y\nb\n=======\nc\n>>>>>>> z",
    );
  });
});

describe("line ends", () => {
  const windows = (text: string) => text.replaceAll("\n", "\r\n");
  const base = lines("a", "b", "c");

  test("a file keeps its own", () => {
    expect(merge(windows(base), windows(lines("A", "b", "c")), windows(lines("a", "b", "C"))).text).toBe(
      windows(lines("A", "b", "C")),
    );
    expect(merge(windows(base), windows(lines("A", "b", "c")), windows(lines("B", "b", "c"))).text).toBe(
      windows(lines("<<<<<<< now", "A", "=======", "B", ">>>>>>> before", "b", "c")),
    );
  });

  test("who changes all of them overlaps with nobody", () => {
    expect(merge(base, windows(base), lines("a", "B", "c"))).toEqual({
      text: windows(lines("a", "B", "c")),
      overlaps: [],
    });
    expect(merge(windows(base), windows(lines("a", "B", "c")), base)).toEqual({
      text: lines("a", "B", "c"),
      overlaps: [],
    });
  });

  test("where they are mixed, each line keeps its own", () => {
    expect(merge("a\r\nb\nc\r\n", "A\r\nb\nc\r\n", "a\r\nb\nC\r\n").text).toBe("A\r\nb\nC\r\n");
  });

  test("a last line without one is edited, continued and ended like others", () => {
    expect(merge("a\nb", "a\nb\n", "A\nb").text).toBe("A\nb\n");
    expect(merge("a\nb", "a\nb\n", "a\nb\nc")).toEqual({ text: "a\nb\nc\n", overlaps: [] });
    expect(merge("a\nb", "A\nb", "a\nb\nc").text).toBe("A\nb\nc");
    expect(merge("a\nb\n", "a\nb", "A\nb\n").text).toBe("A\nb");
  });
});

describe.each([49_000, 400_000])("%d lines that both have rewritten are merged", (count) => {
  test.each(Object.entries(createHardPairs(count)))("%s", (_, [base, other]) => {
    const start = base.slice(0, base.length / 2);
    const result = merge(base, `${other}\nmine`, `${start}\ntheirs`);
    for (const { line } of result.overlaps.slice(0, 3)) expect(result.text.split("\n")[line - 1]).toBe("<<<<<<< now");
    expect(result.text).toMatch(/^mine$/m);
    expect(result.text).toMatch(/^theirs$/m);
  });
});
