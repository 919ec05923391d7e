import { expect, test } from "vitest";
import { updateLines, takeLastLines, type LiveLines, noLines } from "./live-lines.ts";

const listNumbered = (lines: LiveLines, max = 100) =>
  takeLastLines(lines, max).map(({ number, line }) => `${number} ${line}`);

test("a line keeps its number while text is appended and the beginning is cut off", () => {
  let all = "";
  let lines = noLines;
  for (let line = 0; line < 500; line++) {
    all += `line ${line} ${"x".repeat(line % 30)}\n`;
    // Complete lines from the end, as the conversation keeps them.
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

test("a growing line keeps its number, and a different text starts with new numbers", () => {
  const one = updateLines(noLines, "a\nb");
  expect(listNumbered(one)).toEqual(["0 a", "1 b"]);
  const two = updateLines(one, "a\nbc\n");
  expect(listNumbered(two)).toEqual(["0 a", "1 bc"]);
  expect(listNumbered(updateLines(updateLines(two, "a\nbc\n10 %"), "a\nbc\n20 %"))).toEqual(["0 a", "1 bc", "2 20 %"]);
  const other = updateLines(two, "something else");
  expect(other.first).toBeGreaterThan(1);
  expect(updateLines(other, other.text)).toEqual(other);
});
