import { expect, test } from "vitest";
import { diffTexts } from "./line-diff.ts";

const signs = { hunk: "@", same: " ", added: "+", removed: "-", remark: "#" };
const diff = (before: string, after: string) => diffTexts(before, after).map(({ kind, text }) => signs[kind] + text);

test("common lines are kept, and removed lines come before added ones", () => {
  expect(diff("a\nb\nc\n", "a\nB\nc\n")).toEqual([" a", "-b", "+B", " c"]);
  expect(diff("one\ntwo\nthree", "one\n2\ntwo\nthree\nfour")).toEqual([" one", "+2", " two", " three", "+four"]);
  expect(diff("", "new\n")).toEqual(["+new"]);
  expect(diff("old\n\n", "")).toEqual(["-old", "-"]);
});

test("long unchanged sections are folded, short ones are not", () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  const changed = lines.with(10, "ten").with(16, "sixteen").with(29, "last");
  expect(diff(lines.join("\n"), changed.join("\n"))).toEqual([
    "@7 unchanged lines",
    ..." line 7| line 8| line 9|-line 10|+ten".split("|"),
    ..." line 11| line 12| line 13| line 14| line 15|-line 16|+sixteen".split("|"),
    ..." line 17| line 18| line 19|@6 unchanged lines| line 26| line 27| line 28|-line 29|+last".split("|"),
  ]);
});

test("a change that no line shows is described", () => {
  expect(diff("a", "a")).toEqual(["#No changes"]);
  expect(diff("a", "a\n")).toEqual(["#Only the trailing newline differs"]);
});

test("both texts can be restored from any diff, even one too large to be compared line by line", () => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  let state = seed;
  const random = (below: number) => (state = (state * 48_271 + 1) % 2_147_483_647) % below;
  const text = (length: number) => Array.from({ length }, () => `${random(4)}`).join("\n");
  for (const length of [...Array.from({ length: 60 }, () => random(8) + 1), 900]) {
    const [before, after] = [text(length), text(length + random(3))];
    if (before === after) continue;
    const lines = diffTexts(before, after);
    // Unfolded, the removed and the unchanged lines are the old text, the added and the unchanged ones the new.
    if (lines.some(({ kind }) => kind === "hunk")) continue;
    const side = (other: string) => lines.filter(({ kind }) => kind !== other).map((line) => line.text);
    expect(side("added").join("\n"), `seed ${seed}`).toBe(before);
    expect(side("removed").join("\n"), `seed ${seed}`).toBe(after);
  }
  const large = diffTexts(text(900).replaceAll("0", "x"), text(900).replaceAll("0", "y"));
  expect(large.length).toBeGreaterThan(900);
});
