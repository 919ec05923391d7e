import { expect, test } from "vitest";
import { indentJson } from "./json.ts";

test("JSON is indented without changing its value", () => {
  const value = { a: [1, { b: 'x, {y}: ["z\\" ]' }, [], {}], c: null, "d\\": true };
  expect(indentJson(JSON.stringify(value))).toBe(JSON.stringify(value, null, 2));
  expect(indentJson("[1,2]")).toBe("[\n  1,\n  2\n]");
});

test("numbers are kept verbatim, and text that is not JSON is returned unchanged", () => {
  expect(indentJson('{"n":12345678901234567890,"e":1e400}')).toBe('{\n  "n": 12345678901234567890,\n  "e": 1e400\n}');
  for (const text of ["", "42", "hello", "{ not: json }", "[1, 2", "Map(1) {1 => 2}", '{"a":\n1}'])
    expect(indentJson(text)).toBe(text);
  const long = JSON.stringify(Array.from({ length: 100_000 }, () => 1));
  expect(indentJson(long)).toBe(long);
});
