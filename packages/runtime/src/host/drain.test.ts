import { isThinkeryError } from "@thinkery/sdk";
import { beforeEach, expect, test, vi } from "vitest";

// A drain is for good, so each test has a fresh one.
let drains: typeof import("./drain.ts");

beforeEach(async () => {
  vi.resetModules();
  drains = await import("./drain.ts");
});

const now = <T>(work: Promise<T>) =>
  Promise.race([work, new Promise((resolve) => setTimeout(() => resolve("waits"), 30))]);

test("a drain waits for what is held, however often it is let go, and then lets nothing new in", async () => {
  const first = drains.hold();
  const second = drains.hold();
  const drained = drains.drain().then(() => "drained");
  expect(drains.isDraining()).toBe(true);
  first();
  first();
  expect(await now(drained)).toBe("waits");
  second();
  expect(await drained).toBe("drained");
  const refused = await drains.holdDuring(async () => "done").catch((error: unknown) => error);
  expect(isThinkeryError(refused) && refused.code).toBe("unavailable");
});

test("work counts until it ends, also when it throws, or until it says it need not be waited for", async () => {
  await expect(drains.holdDuring(async () => Promise.reject(new Error("broke")))).rejects.toThrow("broke");
  const ends: (() => void)[] = [];
  const ended = () => new Promise<void>((resolve) => ends.push(resolve));
  const waited = drains.holdDuring(ended);
  const released = drains.holdDuring(async (release) => {
    release();
    await ended();
  });
  const drained = drains.drain().then(() => "drained");
  expect(await now(drained)).toBe("waits");
  ends[0]?.();
  await waited;
  expect(await drained).toBe("drained");
  ends[1]?.();
  await released;
});
