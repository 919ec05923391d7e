import { expect, test } from "vitest";
import { ModelError } from "./error.ts";
import { maxAttempts, getRetryDelayMs } from "./retry.ts";

const createTransientError = (retryAfterMs?: number) =>
  new ModelError("overloaded", "busy", {
    retryable: true,
    advice: "",
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

test("permanent errors are not retried, and the number of retries is limited", () => {
  expect(getRetryDelayMs(new ModelError("auth", "no", { retryable: false, advice: "" }), 1, () => 1)).toBeUndefined();
  const delays = Array.from({ length: 10 }, (_, index) => getRetryDelayMs(createTransientError(), index + 1, () => 1));
  expect(delays.filter((delay) => delay !== undefined)).toHaveLength(maxAttempts - 1);
  expect(delays.slice(maxAttempts - 1).every((delay) => delay === undefined)).toBe(true);
});

test("delays grow, use full jitter, and are capped", () => {
  const maxDelays = [1, 2, 3].map((attempt) => getRetryDelayMs(createTransientError(), attempt, () => 1)!);
  expect(maxDelays).toEqual([...maxDelays].sort((a, b) => a - b));
  expect(maxDelays[0]).toBe(500);
  expect(maxDelays[2]).toBeLessThanOrEqual(30_000);
  expect(getRetryDelayMs(createTransientError(), 3, () => 0)).toBe(0);
});

test("a provider's retry-after is a minimum, and one that is too long is not retried", () => {
  for (const chance of [0, 0.5, 1]) {
    expect(getRetryDelayMs(createTransientError(5000), 1, () => chance)).toBeGreaterThanOrEqual(5000);
    expect(getRetryDelayMs(createTransientError(60_000), 1, () => chance)).toBe(60_000);
  }
  expect(getRetryDelayMs(createTransientError(60_001), 1, () => 0)).toBeUndefined();
});
