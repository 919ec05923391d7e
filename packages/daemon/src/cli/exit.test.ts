import { fail } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { toExitCode } from "./exit.ts";

test("a usage error exits with 2", () => {
  expect(toExitCode(fail("bad_request", "x"))).toBe(2);
});

test("no host, or denied access, exits with 3", () => {
  expect(toExitCode(fail("unavailable", "x"))).toBe(3);
  expect(toExitCode(fail("unauthorized", "x"))).toBe(3);
  expect(toExitCode(fail("forbidden", "x"))).toBe(3);
});

test("every other failure exits with 1, including unexpected errors", () => {
  for (const code of ["not_found", "conflict", "too_large", "internal", "misdirected"] as const) {
    expect(toExitCode(fail(code, "x"))).toBe(1);
  }
  expect(toExitCode(new Error("x"))).toBe(1);
  expect(toExitCode("x")).toBe(1);
});
