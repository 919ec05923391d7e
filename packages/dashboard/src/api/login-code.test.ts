import { expect, test } from "vitest";
import { parseLoginCode } from "./login-code.ts";

test("parses a code from a link, from its fragment, and on its own", () => {
  expect(parseLoginCode(" http://127.0.0.1:5099/#code=aB3-x_9 \n")).toBe("aB3-x_9");
  expect(parseLoginCode("#code=aB3-x_9")).toBe("aB3-x_9");
  expect(parseLoginCode("aB3-x_9")).toBe("aB3-x_9");
});

test("returns undefined for text that cannot be a code", () => {
  for (const text of ["", "   ", "#code=", "#other=1", "thinkery open", "http://127.0.0.1:5099/"]) {
    expect(parseLoginCode(text), text).toBeUndefined();
  }
});
