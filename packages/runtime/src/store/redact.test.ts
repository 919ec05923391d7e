import { expect, test } from "vitest";
import { createRedactor } from "./redact.ts";

test("values that look like secrets are redacted", () => {
  const text = `key sk-${"a".repeat(30)} and ghp_${"b".repeat(30)} and Bearer ${"c".repeat(20)} and thk_${"d".repeat(30)}`;
  expect(createRedactor([])(text)).toBe("key [redacted] and [redacted] and [redacted] and [redacted]");
});

test("the host's own secrets are redacted anywhere in a text", () => {
  const redact = createRedactor(["correct-horse-battery"]);
  expect(redact('{"password":"correct-horse-battery"}')).toBe('{"password":"[redacted]"}');
});

test("ordinary words are left alone", () => {
  expect(createRedactor(["a"])("a sketch of a task")).toBe("a sketch of a task");
});
