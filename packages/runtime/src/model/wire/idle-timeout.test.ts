import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { IdleTimeout } from "./idle-timeout.ts";

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

let retryTimeoutMs: IdleTimeout;
afterEach(() => retryTimeoutMs.end());

test("a silence of the whole length ends the call, however often something came before", async () => {
  retryTimeoutMs = new IdleTimeout(1000, new AbortController().signal);
  for (let chunk = 0; chunk < 20; chunk += 1) {
    retryTimeoutMs.begin();
    await vi.advanceTimersByTimeAsync(900);
    retryTimeoutMs.pause();
  }
  expect(retryTimeoutMs.hasExpired).toBe(false);
  retryTimeoutMs.begin();
  await vi.advanceTimersByTimeAsync(999);
  expect(retryTimeoutMs.controller.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1000);
  expect([retryTimeoutMs.hasExpired, retryTimeoutMs.controller.signal.aborted]).toEqual([true, true]);
});

test("time that our own side takes does not count", async () => {
  retryTimeoutMs = new IdleTimeout(1000, new AbortController().signal);
  retryTimeoutMs.begin();
  retryTimeoutMs.pause();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(retryTimeoutMs.controller.signal.aborted).toBe(false);
});

test("the caller's abort is passed on, also one that came before, and after the end it is nobody's business", () => {
  const caller = new AbortController();
  retryTimeoutMs = new IdleTimeout(1000, caller.signal);
  const ended = new IdleTimeout(1000, caller.signal);
  ended.end();
  caller.abort(new Error("enough"));
  expect(retryTimeoutMs.controller.signal.reason).toEqual(new Error("enough"));
  expect([retryTimeoutMs.hasExpired, ended.controller.signal.aborted]).toEqual([false, false]);
  const late = new IdleTimeout(1000, caller.signal);
  expect(late.controller.signal.aborted).toBe(true);
  late.end();
  expect(vi.getTimerCount()).toBe(1);
});
