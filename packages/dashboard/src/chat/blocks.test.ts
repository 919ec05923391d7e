import { expect, test } from "vitest";
import { parseBlocks, parseInlineCode, showControlChars } from "./blocks.ts";

test("blank lines part paragraphs, and single line ends stay in them", () => {
  expect(parseBlocks("one\ntwo\n\n\n  \nthree\n")).toEqual([
    { kind: "text", text: "one\ntwo" },
    { kind: "text", text: "three" },
  ]);
});

test("fenced code keeps every character, blank lines and other fences included", () => {
  expect(parseBlocks("see:\n````ts title=x\nconst a = `b`;\n\n```\n  end\n````\nafter")).toEqual([
    { kind: "text", text: "see:" },
    { kind: "code", text: "const a = `b`;\n\n```\n  end", language: "ts" },
    { kind: "text", text: "after" },
  ]);
});

test("a fence that is not closed yet is code already, and no prefix of a text loses a word", () => {
  expect(parseBlocks("a\n```\nb")).toEqual([
    { kind: "text", text: "a" },
    { kind: "code", text: "b" },
  ]);
  const whole = "one `two`\n\n```js\nthree();\n```\n\nfour";
  for (let end = 0; end <= whole.length; end++) {
    const words = (text: string) => text.match(/[a-z]{3,}/g) ?? [];
    const said = whole.slice(0, end);
    expect(
      words(
        parseBlocks(said)
          .map(({ text }) => text)
          .join(" "),
      ),
      said,
    ).toEqual(words(said));
  }
});

test("code inside a line is told from its surroundings; a single backtick is just one", () => {
  expect(parseInlineCode("run `npm start` now")).toEqual([
    { kind: "plain", text: "run " },
    { kind: "code", text: "npm start" },
    { kind: "plain", text: " now" },
  ]);
  expect(parseInlineCode("a ` b")).toEqual([{ kind: "plain", text: "a ` b" }]);
});

test("control characters can be seen, and text runs in its own direction", () => {
  expect(showControlChars("\u001b[31mred\u001b[0m\u0007 \u202egnp.exe\u0000")).toBe(
    "\u241b[31mred\u241b[0m\u2407 \ufffdgnp.exe\u2400",
  );
  expect(showControlChars("a\tb\r\nc")).toBe("a\tb\nc");
});
