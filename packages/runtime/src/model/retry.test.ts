import { expect, test } from "vitest";
import { ModelError } from "./error.ts";
import { maxAttempts, getRetryDelayMs } from "./retry.ts";

const createTransientError = (retryAfterMs?: number) =>
  new ModelError("overloaded", "busy", {
    passing: true,
    advice: "",
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

test("what does not pass is not tried again, and nothing is tried for ever", () => {
  expect(getRetryDelayMs(new ModelError("auth", "no", { passing: false, advice: "" }), 1, () => 1)).toBeUndefined();
  const delays = Array.from({ length: 10 }, (_, index) => getRetryDelayMs(createTransientError(), index + 1, () => 1));
  expect(delays.filter((delay) => delay !== undefined)).toHaveLength(maxAttempts - 1);
  expect(delays.slice(maxAttempts - 1).every((delay) => delay === undefined)).toBe(true);
});

test("waits grow, are spread over their whole length, and have an end", () => {
  const longest = [1, 2, 3].map((attempt) => getRetryDelayMs(createTransientError(), attempt, () => 1)!);
  expect(longest).toEqual([...longest].sort((a, b) => a - b));
  expect(longest[0]).toBe(500);
  expect(longest[2]).toBeLessThanOrEqual(30_000);
  expect(getRetryDelayMs(createTransientError(), 3, () => 0)).toBe(0);
});

test("a provider's wish is kept, never undercut, and too long a wish is a no", () => {
  for (const chance of [0, 0.5, 1]) {
    expect(getRetryDelayMs(createTransientError(5000), 1, () => chance)).toBeGreaterThanOrEqual(5000);
    expect(getRetryDelayMs(createTransientError(60_000), 1, () => chance)).toBe(60_000);
  }
  expect(getRetryDelayMs(createTransientError(60_001), 1, () => 0)).toBeUndefined();
});
