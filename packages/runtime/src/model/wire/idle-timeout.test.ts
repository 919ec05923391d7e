import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { IdleTimeout } from "./idle-timeout.ts";

beforeEach(() => {
  vi.useFakeTimers();
  return () => vi.useRealTimers();
});

let patience: IdleTimeout;
afterEach(() => patience.end());

test("a silence of the whole length ends the call, however often something came before", async () => {
  patience = new IdleTimeout(1000, new AbortController().signal);
  for (let chunk = 0; chunk < 20; chunk += 1) {
    patience.begin();
    await vi.advanceTimersByTimeAsync(900);
    patience.pause();
  }
  expect(patience.hasExpired).toBe(false);
  patience.begin();
  await vi.advanceTimersByTimeAsync(999);
  expect(patience.controller.signal.aborted).toBe(false);
  await vi.advanceTimersByTimeAsync(1000);
  expect([patience.hasExpired, patience.controller.signal.aborted]).toEqual([true, true]);
});

test("time that our own side takes does not count", async () => {
  patience = new IdleTimeout(1000, new AbortController().signal);
  patience.begin();
  patience.pause();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(patience.controller.signal.aborted).toBe(false);
});

test("the caller's abort is passed on, also one that came before, and after the end it is nobody's business", () => {
  const caller = new AbortController();
  patience = new IdleTimeout(1000, caller.signal);
  const ended = new IdleTimeout(1000, caller.signal);
  ended.end();
  caller.abort(new Error("enough"));
  expect(patience.controller.signal.reason).toEqual(new Error("enough"));
  expect([patience.hasExpired, ended.controller.signal.aborted]).toEqual([false, false]);
  const late = new IdleTimeout(1000, caller.signal);
  expect(late.controller.signal.aborted).toBe(true);
  late.end();
  expect(vi.getTimerCount()).toBe(1);
});
