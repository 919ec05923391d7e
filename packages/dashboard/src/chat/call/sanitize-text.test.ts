import { expect, test } from "vitest";
import { sanitizeTerminalText, sanitizeText } from "./sanitize-text.ts";

test("control and direction characters in code and output are made visible", () => {
  expect(sanitizeText("a\u202eb\u2066c\u200fd\u061ce")).toBe("a\ufffdb\ufffdc\ufffdd\ufffde");
  expect(sanitizeText("\u001b[31mred\u0000\u0007\tx\ny")).toBe("\u241b[31mred\u2400\u2407\tx\ny");
  expect(sanitizeText("\u009b2J")).toBe("\ufffd2J");
});

test("an overwritten line shows its final content", () => {
  expect(sanitizeTerminalText("10 %\r50 %\r100 %\ndone\r\nnext")).toBe("100 %\ndone\nnext");
  expect(sanitizeTerminalText("still\r")).toBe("still");
  expect(sanitizeTerminalText("a\u202e\rb\u202e")).toBe("b\ufffd");
});
