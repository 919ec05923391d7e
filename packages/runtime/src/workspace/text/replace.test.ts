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
  return "error" in result ? `error: ${result.error}` : result.text;
}

test("all occurrences of a string are found", () => {
  const random = createRandom("pieces");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 750, full: 3_000 }); round += 1) {
    const long = random.text(random.below(300), "ab");
    const from = random.below(long.length + 1);
    const searched = random.chance(0.5)
      ? long.slice(from, from + random.below(80))
      : random.text(1 + random.below(80), "ab");
    const offsets: number[] = [];
    if (searched !== "")
      for (let at = 0; at <= long.length; at += 1) if (long.startsWith(searched, at)) offsets.push(at);
    expect(findOccurrences(long, searched)).toEqual(offsets);
  }
});

describe("exact matches", () => {
  test("a unique occurrence is replaced", () => {
    expect(edit(text, "return 2", "return 3")).toBe(text.replace("return 2", "return 3"));
  });

  test("replacement patterns such as $& are inserted literally", () => {
    expect(edit("a b", "b", "$& $1 $$ $`")).toBe("a $& $1 $$ $`");
  });

  test("replaceAll replaces all occurrences", () => {
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

  test("several occurrences without replaceAll are an error that lists their lines", () => {
    expect(edit(text, "  return", "yield")).toBe(
      "error: oldString occurs 2 times, on lines 2, 6. Include more surrounding text to make it unique, or set replaceAll.",
    );
    expect(edit("x\n".repeat(9), "x", "y")).toContain("9 times, on lines 1, 2, 3, 4, 5 and 4 more");
    expect(edit("aaa", "aa", "b")).toContain("2 times");
  });

  test("several edits are applied in order, all or none", () => {
    const edits = [
      { oldString: "return 1", newString: "return one" },
      { oldString: "return one", newString: "return 11" },
    ];
    expect(replaceText(text, edits)).toEqual({ text: text.replace("return 1", "return 11"), count: 2 });
    expect(replaceText(text, [...edits, { oldString: "return one", newString: "x" }])).toEqual({
      error: expect.stringMatching(/^Edit 3 of 3 failed, so none was made: oldString was not found/),
    });
  });

  test.each([
    ["an identical replacement", text, "a", "a", "are the same"],
    ["an empty oldString in a file with content", text, "", "a", "oldString is empty"],
    ["a non-empty oldString in an empty file", "", "a", "b", "the file is empty"],
    ["a result that is too large", "a".repeat(1_000_000), "a", "b".repeat(100), "more than 33554432 characters"],
  ])("%s is an error", (_, text, oldString, newString, words) => {
    expect(edit(text, oldString, newString, { replaceAll: true })).toContain(words);
    expect(edit(text, oldString, newString, { replaceAll: true })).toContain("error: ");
  });

  test("an empty oldString sets the content of an empty file", () => {
    expect(edit("", "", "hello\n")).toBe("hello\n");
  });
});

describe("unambiguous matches that ignore whitespace", () => {
  test.each([
    ["trailing whitespace in the file", "a  \nb\t\nc\n", "a\nb", "x\ny", "x\ny\nc\n"],
    ["trailing whitespace in oldString", "a\nb\nc\n", "a  \nb ", "x\ny", "x\ny\nc\n"],
    [
      "oldString is indented less",
      "    if (a) {\n      b();\n    }\n",
      "if (a) {\n  b();\n}\n",
      "if (c) {\n  d();\n\n}\n",
      "    if (c) {\n      d();\n\n    }\n",
    ],
    [
      "oldString is indented more",
      "if (a) {\n  b();\n}\n",
      "    if (a) {\n      b();\n    }",
      "    if (c) {\n      d();\n    }",
      "if (c) {\n  d();\n}\n",
    ],
    [
      "spaces instead of tabs",
      "\tif (a) {\n\t\tb();\n\t}\n",
      "    if (a) {\n        b();\n    }",
      "    if (a) {\n        if (x)\n            c();\n    }",
      "\tif (a) {\n\t\tif (x)\n\t\t\tc();\n\t}\n",
    ],
    [
      "two spaces instead of each tab",
      "\tif (a) {\n\t\tb();\n\t}\n",
      "  if (a) {\n    b();\n  }",
      "  if (a) {\n    c();\n  }",
      "\tif (a) {\n\t\tc();\n\t}\n",
    ],
    ["one line with two spaces instead of a tab", "\tb();\n", "  b();", "  if (x)\n    c();", "\tif (x)\n\t\tc();\n"],
    [
      "tabs instead of spaces",
      "  if (a) {\n    b();\n  }\n",
      "\tif (a) {\n\t\tb();\n\t}",
      "\tif (a) {\n\t\tc();\n\t}",
      "  if (a) {\n    c();\n  }\n",
    ],
    ["a line removed with its line ending", "a\n  b  \nc\n", "b\n", "", "a\nc\n"],
    ["the last line, which has no line ending", "a\n  b", "b ", "c", "a\n  c"],
  ])("%s", (_, text, oldString, newString, after) => {
    expect(edit(text, oldString, newString)).toBe(after);
    expect(edit(text, oldString, newString, {}, { exact: true })).toContain("error: oldString was not found");
  });

  test.each([
    ["inconsistent indentation", "  a\n    b\n", "a\nb"],
    ["a different word", "  a b\n", "a c"],
    ["whitespace within a line", "a  b\n", "a b"],
    ["only whitespace", "a\n\t\n", "    "],
    ["several matches", "  a {\n  b\n    a {\n    b\n", "a {\nb"],
  ])("no match: %s", (_, text, oldString) => {
    expect(edit(text, oldString, "x")).toMatch(/^error: /);
  });

  test("oldString with other line endings is found, also mid-line, and the replacement gets those of the file", () => {
    expect(edit("a 1\r\nb 2\r\n", "1\nb", "3\nc")).toBe("a 3\r\nc 2\r\n");
    expect(edit("a 1\nb 2\n", "1\r\nb", "3\r\nc")).toBe("a 3\nc 2\n");
    expect(edit("a\r\nb\r\n", "a", "x\ny", {}, { exact: true })).toBe("x\r\ny\r\nb\r\n");
    expect(edit("a\r\nb\n", "a\r\n", "x\r\n")).toBe("x\r\nb\n");
  });
});

describe("oldString is not in the file", () => {
  test("the error shows the most similar lines with their numbers", () => {
    expect(edit(text, "function b() {\n  return 3;\n}", "x")).toBe(
      "error: oldString was not found. The most similar text is:\n4\t\n5\tfunction b() {\n6\t  return 2;\n7\t}\n8\t",
    );
    expect(edit("one\nconst total = sum(values);\nthree\n", "let total = sum(values)", "x")).toContain(
      "2\tconst total = sum(values);",
    );
    expect(edit("one\ntwo\n", "something else entirely", "x")).toBe(
      "error: oldString was not found. Nothing in the file is similar.",
    );
  });

  test("the error says so if oldString contains line numbers", () => {
    expect(edit(text, "1\tfunction a() {\n2\t  return 1;", "x")).toContain("Leave out the line numbers.");
  });

  test("the error is short, however long the lines are", () => {
    const long = `${"abc".repeat(100_000)}\n`.repeat(3);
    expect(edit(long, `${"abc".repeat(100_000)}x`, "y").length).toBeLessThan(3_000);
  });
});

describe("worst cases are fast", () => {
  const a = "a".repeat(1_000_000);
  const lines = "aa\n".repeat(300_000);
  test.each([
    ["a long string that almost matches everywhere", a, `${"a".repeat(100_000)}b${"a".repeat(100_000)}`],
    ["a short string that matches everywhere", a, "a"],
    ["a periodic string", "ab".repeat(500_000), `bb${"ab".repeat(100_000)}`],
    ["lines that almost match everywhere", lines, ` ${"aa\n".repeat(100_000)}b`],
    ["lines that match everywhere except for whitespace", lines, `\t${"aa \n".repeat(1_000)}`],
    ["nothing similar", lines, "z".repeat(1_000_000)],
  ])("%s", (_, text, oldString) => {
    expect(edit(text, oldString, "x")).toMatch(/^error: /);
  });
});
