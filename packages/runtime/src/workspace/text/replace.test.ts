import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { getRepeatCount } from "../../../../../tests/kit/sample.ts";
import { findOccurrences } from "./find.ts";
import { type TextEdit, replaceText, type ReplaceOptions } from "./replace.ts";

const text = "function a() {\n  return 1;\n}\n\nfunction b() {\n  return 2;\n}\n";

function edit(
  text: string,
  oldString: string,
  newString: string,
  more: Partial<TextEdit> = {},
  options?: ReplaceOptions,
): string {
  const result = replaceText(text, [{ oldString, newString, ...more }], options);
  return "refusal" in result ? `refused: ${result.refusal}` : result.text;
}

test("a piece is found wherever it is, as often as it is", () => {
  const chance = createRandom("pieces");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 750, full: 3_000 }); round += 1) {
    const long = chance.text(chance.below(300), "ab");
    const from = chance.below(long.length + 1);
    const piece = chance.chance(0.5)
      ? long.slice(from, from + chance.below(80))
      : chance.text(1 + chance.below(80), "ab");
    const places: number[] = [];
    if (piece !== "") for (let at = 0; at <= long.length; at += 1) if (long.startsWith(piece, at)) places.push(at);
    expect(findOccurrences(long, piece)).toEqual(places);
  }
});

describe("to the letter", () => {
  test("what is there once is replaced", () => {
    expect(edit(text, "return 2", "return 3")).toBe(text.replace("return 2", "return 3"));
  });

  test("what stands in the new text for something elsewhere stands for itself", () => {
    expect(edit("a b", "b", "$& $1 $$ $`")).toBe("a $& $1 $$ $`");
  });

  test("what is there several times is replaced when that is said", () => {
    expect(edit(text, "return", "yield", { replaceAll: true })).toBe(text.replaceAll("return", "yield"));
    expect(replaceText("aaa", [{ oldString: "a", newString: "b", replaceAll: true }])).toEqual({
      text: "bbb",
      count: 3,
    });
    expect(replaceText("aaaaa", [{ oldString: "aa", newString: "a", replaceAll: true }])).toEqual({
      text: "aaa",
      count: 2,
    });
  });

  test("or refused with its lines", () => {
    expect(edit(text, "  return", "yield")).toBe(
      "refused: oldString is there 2 times, on lines 2, 6. Give more of the text around the one you mean, or set replaceAll.",
    );
    expect(edit("x\n".repeat(9), "x", "y")).toContain("9 times, on lines 1, 2, 3, 4, 5 and 4 more");
    expect(edit("aaa", "aa", "b")).toContain("2 times");
  });

  test("several edits follow each other, all or none", () => {
    const edits = [
      { oldString: "return 1", newString: "return one" },
      { oldString: "return one", newString: "return 11" },
    ];
    expect(replaceText(text, edits)).toEqual({ text: text.replace("return 1", "return 11"), count: 2 });
    expect(replaceText(text, [...edits, { oldString: "return one", newString: "x" }])).toEqual({
      refusal: expect.stringMatching(/^Edit 3 of 3, and so none was made: oldString is not there/),
    });
  });

  test.each([
    ["the same twice", text, "a", "a", "are the same"],
    ["nothing in a file that has something", text, "", "a", "oldString is empty"],
    ["something in a file that has nothing", "", "a", "b", "the file is empty"],
    ["what would become too large", "a".repeat(1_000_000), "a", "b".repeat(100), "more than 33554432 characters"],
  ])("%s is refused", (_, text, oldString, newString, words) => {
    expect(edit(text, oldString, newString, { replaceAll: true })).toContain(words);
    expect(edit(text, oldString, newString, { replaceAll: true })).toContain("refused: ");
  });

  test("nothing in an empty file is where its content comes", () => {
    expect(edit("", "", "hello\n")).toBe("hello\n");
  });
});

describe("but for white space, where there is no doubt", () => {
  test.each([
    ["at the ends of lines in the file", "a  \nb\t\nc\n", "a\nb", "x\ny", "x\ny\nc\n"],
    ["at the ends of lines in the piece", "a\nb\nc\n", "a  \nb ", "x\ny", "x\ny\nc\n"],
    [
      "indented less",
      "    if (a) {\n      b();\n    }\n",
      "if (a) {\n  b();\n}\n",
      "if (c) {\n  d();\n\n}\n",
      "    if (c) {\n      d();\n\n    }\n",
    ],
    [
      "indented more",
      "if (a) {\n  b();\n}\n",
      "    if (a) {\n      b();\n    }",
      "    if (c) {\n      d();\n    }",
      "if (c) {\n  d();\n}\n",
    ],
    [
      "with spaces for tabs",
      "\tif (a) {\n\t\tb();\n\t}\n",
      "    if (a) {\n        b();\n    }",
      "    if (a) {\n        if (x)\n            c();\n    }",
      "\tif (a) {\n\t\tif (x)\n\t\t\tc();\n\t}\n",
    ],
    [
      "with two spaces for each tab",
      "\tif (a) {\n\t\tb();\n\t}\n",
      "  if (a) {\n    b();\n  }",
      "  if (a) {\n    c();\n  }",
      "\tif (a) {\n\t\tc();\n\t}\n",
    ],
    ["one line with two spaces for a tab", "\tb();\n", "  b();", "  if (x)\n    c();", "\tif (x)\n\t\tc();\n"],
    [
      "with tabs for spaces",
      "  if (a) {\n    b();\n  }\n",
      "\tif (a) {\n\t\tb();\n\t}",
      "\tif (a) {\n\t\tc();\n\t}",
      "  if (a) {\n    c();\n  }\n",
    ],
    ["a line removed with its end", "a\n  b  \nc\n", "b\n", "", "a\nc\n"],
    ["the last line, which has no end", "a\n  b", "b ", "c", "a\n  c"],
  ])("%s", (_, text, oldString, newString, after) => {
    expect(edit(text, oldString, newString)).toBe(after);
    expect(edit(text, oldString, newString, {}, { exact: true })).toContain("refused: oldString is not there");
  });

  test.each([
    ["indented not alike", "  a\n    b\n", "a\nb"],
    ["another word", "  a b\n", "a c"],
    ["white space within a line", "a  b\n", "a b"],
    ["only white space", "a\n\t\n", "    "],
    ["several", "  a {\n  b\n    a {\n    b\n", "a {\nb"],
  ])("not: %s", (_, text, oldString) => {
    expect(edit(text, oldString, "x")).toMatch(/^refused: /);
  });

  test("a piece whose line ends are others is found, also within lines, and what is written has those of the file", () => {
    expect(edit("a 1\r\nb 2\r\n", "1\nb", "3\nc")).toBe("a 3\r\nc 2\r\n");
    expect(edit("a 1\nb 2\n", "1\r\nb", "3\r\nc")).toBe("a 3\nc 2\n");
    expect(edit("a\r\nb\r\n", "a", "x\ny", {}, { exact: true })).toBe("x\r\ny\r\nb\r\n");
    expect(edit("a\r\nb\n", "a\r\n", "x\r\n")).toBe("x\r\nb\n");
  });
});

describe("what is not there", () => {
  test("is answered with the nearest lines and their numbers", () => {
    expect(edit(text, "function b() {\n  return 3;\n}", "x")).toBe(
      "refused: oldString is not there. The nearest text is:\n4\t\n5\tfunction b() {\n6\t  return 2;\n7\t}\n8\t",
    );
    expect(edit("one\nconst total = sum(values);\nthree\n", "let total = sum(values)", "x")).toContain(
      "2\tconst total = sum(values);",
    );
    expect(edit("one\ntwo\n", "something else entirely", "x")).toBe(
      "refused: oldString is not there. Nothing in the file is like it.",
    );
  });

  test("because it has line numbers in it, is told so", () => {
    expect(edit(text, "1\tfunction a() {\n2\t  return 1;", "x")).toContain("Leave out the line numbers.");
  });

  test("is answered shortly, however long the lines are", () => {
    const long = `${"abc".repeat(100_000)}\n`.repeat(3);
    expect(edit(long, `${"abc".repeat(100_000)}x`, "y").length).toBeLessThan(3_000);
  });
});

describe("nothing takes long", () => {
  const a = "a".repeat(1_000_000);
  const lines = "aa\n".repeat(300_000);
  test.each([
    ["a long piece that is almost everywhere", a, `${"a".repeat(100_000)}b${"a".repeat(100_000)}`],
    ["a short one that is everywhere", a, "a"],
    ["one that repeats", "ab".repeat(500_000), `bb${"ab".repeat(100_000)}`],
    ["lines that are almost everywhere", lines, ` ${"aa\n".repeat(100_000)}b`],
    ["lines that are everywhere but for white space", lines, `\t${"aa \n".repeat(1_000)}`],
    ["nothing like it", lines, "z".repeat(1_000_000)],
  ])("%s", (_, text, oldString) => {
    expect(edit(text, oldString, "x")).toMatch(/^refused: /);
  });
});
