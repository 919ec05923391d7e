import { fail } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { exitCodeOf } from "./exit.ts";

test("a mistake in what was typed is 2", () => {
  expect(exitCodeOf(fail("bad_request", "x"))).toBe(2);
});

test("no host, or one that does not let us, is 3", () => {
  expect(exitCodeOf(fail("unavailable", "x"))).toBe(3);
  expect(exitCodeOf(fail("unauthorized", "x"))).toBe(3);
  expect(exitCodeOf(fail("forbidden", "x"))).toBe(3);
});

test("every other failure is 1, also one nobody foresaw", () => {
  for (const code of ["not_found", "conflict", "too_large", "internal", "misdirected"] as const) {
    expect(exitCodeOf(fail(code, "x"))).toBe(1);
  }
  expect(exitCodeOf(new Error("x"))).toBe(1);
  expect(exitCodeOf("x")).toBe(1);
});
