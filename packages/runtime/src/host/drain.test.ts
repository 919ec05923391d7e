import { isThinkeryError } from "@thinkery/sdk";
import { beforeEach, expect, test, vi } from "vitest";

// A drain cannot be undone, so each test loads the module again.
let module: typeof import("./drain.ts");

beforeEach(async () => {
  vi.resetModules();
  module = await import("./drain.ts");
});

const waitBriefly = <T>(work: Promise<T>) =>
  Promise.race([work, new Promise((resolve) => setTimeout(() => resolve("waiting"), 30))]);

test("a drain waits until every hold is released once, then rejects new work", async () => {
  const first = module.hold();
  const second = module.hold();
  const drained = module.drain().then(() => "drained");
  expect(module.isDraining()).toBe(true);
  first();
  first();
  expect(await waitBriefly(drained)).toBe("waiting");
  second();
  expect(await drained).toBe("drained");
  const error = await module.holdDuring(async () => "done").catch((thrown: unknown) => thrown);
  expect(isThinkeryError(error) && error.code).toBe("unavailable");
});

test("work is held until it ends, throws or releases itself", async () => {
  await expect(module.holdDuring(async () => Promise.reject(new Error("broke")))).rejects.toThrow("broke");
  const ends: (() => void)[] = [];
  const ended = () => new Promise<void>((resolve) => ends.push(resolve));
  const waited = module.holdDuring(ended);
  const released = module.holdDuring(async (release) => {
    release();
    await ended();
  });
  const drained = module.drain().then(() => "drained");
  expect(await waitBriefly(drained)).toBe("waiting");
  ends[0]?.();
  await waited;
  expect(await drained).toBe("drained");
  ends[1]?.();
  await released;
});
