import { expect, test } from "vitest";
import { sanitizeTerminalText, sanitizeText } from "./sanitize-text.ts";

test("nothing in code or output turns, hides or acts", () => {
  expect(sanitizeText("a\u202eb\u2066c\u200fd\u061ce")).toBe("a\ufffdb\ufffdc\ufffdd\ufffde");
  expect(sanitizeText("\u001b[31mred\u0000\u0007\tx\ny")).toBe("\u241b[31mred\u2400\u2407\tx\ny");
  expect(sanitizeText("\u009b2J")).toBe("\ufffd2J");
});

test("a line that was drawn over is what was drawn last", () => {
  expect(sanitizeTerminalText("10 %\r50 %\r100 %\ndone\r\nnext")).toBe("100 %\ndone\nnext");
  expect(sanitizeTerminalText("still\r")).toBe("still");
  expect(sanitizeTerminalText("a\u202e\rb\u202e")).toBe("b\ufffd");
});
