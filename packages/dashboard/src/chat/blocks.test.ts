import { expect, test } from "vitest";
import { parseBlocks, parseInlineCode, showControlChars } from "./blocks.ts";

test("blank lines separate paragraphs, and single newlines stay in them", () => {
  expect(parseBlocks("one\ntwo\n\n\n  \nthree\n")).toEqual([
    { kind: "text", text: "one\ntwo" },
    { kind: "text", text: "three" },
  ]);
});

test("fenced code keeps every character, including blank lines and other fences", () => {
  expect(parseBlocks("see:\n````ts title=x\nconst a = `b`;\n\n```\n  end\n````\nafter")).toEqual([
    { kind: "text", text: "see:" },
    { kind: "code", text: "const a = `b`;\n\n```\n  end", language: "ts" },
    { kind: "text", text: "after" },
  ]);
});

test("an unclosed fence is code, and no prefix of a text loses a word", () => {
  expect(parseBlocks("a\n```\nb")).toEqual([
    { kind: "text", text: "a" },
    { kind: "code", text: "b" },
  ]);
  const whole = "one `two`\n\n```js\nthree();\n```\n\nfour";
  for (let end = 0; end <= whole.length; end++) {
    const words = (text: string) => text.match(/[a-z]{3,}/g) ?? [];
    const prefix = whole.slice(0, end);
    expect(
      words(
        parseBlocks(prefix)
          .map(({ text }) => text)
          .join(" "),
      ),
      prefix,
    ).toEqual(words(prefix));
  }
});

test("inline code is separated from the text; a single backtick is kept as text", () => {
  expect(parseInlineCode("run `npm start` now")).toEqual([
    { kind: "plain", text: "run " },
    { kind: "code", text: "npm start" },
    { kind: "plain", text: " now" },
  ]);
  expect(parseInlineCode("a ` b")).toEqual([{ kind: "plain", text: "a ` b" }]);
});

test("control characters are made visible and direction overrides are replaced", () => {
  expect(showControlChars("\u001b[31mred\u001b[0m\u0007 \u202egnp.exe\u0000")).toBe(
    "\u241b[31mred\u241b[0m\u2407 \ufffdgnp.exe\u2400",
  );
  expect(showControlChars("a\tb\r\nc")).toBe("a\tb\nc");
});
