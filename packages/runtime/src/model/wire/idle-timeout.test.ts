import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { IdleTimeout } from "./idle-timeout.ts";

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

let idleTimeout: IdleTimeout;
afterEach(() => idleTimeout.end());

test("a call is aborted after the full idle time, however much data came before", async () => {
  idleTimeout = new IdleTimeout(1000, new AbortController().signal);
  for (let chunk = 0; chunk < 20; chunk += 1) {
    idleTimeout.begin();
    await vi.advanceTimersByTimeAsync(900);
    idleTimeout.pause();
  }
  expect(idleTimeout.hasExpired).toBe(false);
  idleTimeout.begin();
  await vi.advanceTimersByTimeAsync(999);
  expect(idleTimeout.controller.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1000);
  expect([idleTimeout.hasExpired, idleTimeout.controller.signal.aborted]).toEqual([true, true]);
});

test("time spent on our side does not count", async () => {
  idleTimeout = new IdleTimeout(1000, new AbortController().signal);
  idleTimeout.begin();
  idleTimeout.pause();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(idleTimeout.controller.signal.aborted).toBe(false);
});

test("the caller's abort is forwarded, also an earlier one, but not after the end", () => {
  const caller = new AbortController();
  idleTimeout = new IdleTimeout(1000, caller.signal);
  const ended = new IdleTimeout(1000, caller.signal);
  ended.end();
  caller.abort(new Error("enough"));
  expect(idleTimeout.controller.signal.reason).toEqual(new Error("enough"));
  expect([idleTimeout.hasExpired, ended.controller.signal.aborted]).toEqual([false, false]);
  const late = new IdleTimeout(1000, caller.signal);
  expect(late.controller.signal.aborted).toBe(true);
  late.end();
  expect(vi.getTimerCount()).toBe(1);
});
