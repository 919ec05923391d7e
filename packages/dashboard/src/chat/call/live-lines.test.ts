import { expect, test } from "vitest";
import { updateLines, takeLastLines, type LiveLines, noLines } from "./live-lines.ts";

const listNumbered = (lines: LiveLines, most = 100) =>
  takeLastLines(lines, most).map(({ number, line }) => `${number} ${line}`);

test("a line keeps its number while more comes and the beginning is cut away", () => {
  let all = "";
  let lines = noLines;
  for (let line = 0; line < 500; line++) {
    all += `line ${line} ${"x".repeat(line % 30)}\n`;
    // Whole lines from the end, as a conversation keeps them.
    const end = all.slice(-2000);
    lines = updateLines(lines, all.length <= 2000 ? all : end.slice(end.indexOf("\n") + 1));
    expect(listNumbered(lines, 1)).toEqual([`${line} line ${line} ${"x".repeat(line % 30)}`]);
  }
  expect(listNumbered(lines, 3).map((line) => line.split(" ").slice(0, 3).join(" "))).toEqual([
    "497 line 497",
    "498 line 498",
    "499 line 499",
  ]);
});

test("a line that grows stays the same line, and another text begins with new ones", () => {
  const one = updateLines(noLines, "a\nb");
  expect(listNumbered(one)).toEqual(["0 a", "1 b"]);
  const two = updateLines(one, "a\nbc\n");
  expect(listNumbered(two)).toEqual(["0 a", "1 bc"]);
  expect(listNumbered(updateLines(updateLines(two, "a\nbc\n10 %"), "a\nbc\n20 %"))).toEqual(["0 a", "1 bc", "2 20 %"]);
  const other = updateLines(two, "something else");
  expect(other.first).toBeGreaterThan(1);
  expect(updateLines(other, other.text)).toEqual(other);
});
