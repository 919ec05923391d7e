import { expect, test } from "vitest";
import { RepeatableWork } from "./repeatable-work.ts";

test("work that is requested while it runs runs once more, and then no more", async () => {
  let runs = 0;
  const work = new RepeatableWork(async () => {
    if (++runs === 1) for (let request = 0; request < 3; request++) void work.run();
    await Promise.resolve();
  });
  await work.run();
  expect([runs, work.isRunning]).toEqual([2, false]);
  // Also if it was requested by whoever waited for it.
  await work.run().then(() => work.run());
  expect(runs).toBe(4);
});

test("work that throws can be requested again; halted work cannot", async () => {
  let runs = 0;
  const work = new RepeatableWork(async () => {
    if (++runs === 1) throw new Error("no");
  });
  await expect(work.run()).rejects.toThrow("no");
  await work.run();
  work.halt();
  await work.run();
  expect([runs, work.isRunning]).toEqual([2, false]);
});
