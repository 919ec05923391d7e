import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { RequestRates } from "./request-rates.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Takes all requests that are granted; returns their number and the error that ended it. */
function takeAll(rates: RequestRates, hash: string, perMinute?: number): { granted: number; error: unknown } {
  for (let granted = 0; ;) {
    try {
      granted += rates.grant(hash, perMinute);
    } catch (error) {
      return { granted, error };
    }
  }
}

test("a token gets a minute's worth at once, then as many as the minute goes by", () => {
  const rates = new RequestRates();
  const { granted, error } = takeAll(rates, "a", 600);
  expect(granted).toBe(600);
  expect(error).toMatchObject({ code: "rate_limited", details: { retryAfter: 1 } });
  vi.advanceTimersByTime(30_000);
  expect(takeAll(rates, "a", 600).granted).toBe(300);
  vi.advanceTimersByTime(600_000);
  expect(takeAll(rates, "a", 600).granted).toBe(600);
});

test("tokens do not share their limit, and a new limit applies at once", () => {
  const rates = new RequestRates();
  expect(takeAll(rates, "a", 60).granted).toBe(60);
  expect(takeAll(rates, "b", 60).granted).toBe(60);
  expect(takeAll(rates, "a", 120).granted).toBe(120);
});

test("many tokens together get no more than five", () => {
  const rates = new RequestRates();
  const granted = Array.from({ length: 8 }, (_, token) => takeAll(rates, `token ${token}`, 60).granted);
  expect(granted).toEqual([60, 60, 60, 60, 60, 0, 0, 0]);
});

test("without a limit there is one that nobody notices", () => {
  expect(takeAll(new RequestRates(), "a").granted).toBe(30_000);
});
