import { expect, test } from "vitest";
import { drawn, plain } from "./plain.ts";

test("nothing in code or output turns, hides or acts", () => {
  expect(plain("a\u202eb\u2066c\u200fd\u061ce")).toBe("a\ufffdb\ufffdc\ufffdd\ufffde");
  expect(plain("\u001b[31mred\u0000\u0007\tx\ny")).toBe("\u241b[31mred\u2400\u2407\tx\ny");
  expect(plain("\u009b2J")).toBe("\ufffd2J");
});

test("a line that was drawn over is what was drawn last", () => {
  expect(drawn("10 %\r50 %\r100 %\ndone\r\nnext")).toBe("100 %\ndone\nnext");
  expect(drawn("still\r")).toBe("still");
  expect(drawn("a\u202e\rb\u202e")).toBe("b\ufffd");
});
