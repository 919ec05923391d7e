import { expect, test } from "vitest";
import { Queue } from "./queue.ts";

test("runs a limited number at a time, in order, and continues after a failure", async () => {
  const queue = new Queue(2);
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3, 4].map((n) =>
    queue.run(async () => {
      started.push(n);
      await new Promise<void>((end) => ends.push(end));
      if (n === 1) throw new Error("one");
      return n;
    }),
  );
  const settled = Promise.allSettled(all);
  const nextTask = () => new Promise((resolve) => setTimeout(resolve));
  await nextTask();
  expect(started).toEqual([0, 1]);
  ends[1]?.();
  await nextTask();
  expect(started).toEqual([0, 1, 2]);
  ends[0]?.();
  ends[2]?.();
  await nextTask();
  expect(started).toEqual([0, 1, 2, 3, 4]);
  ends[3]?.();
  ends[4]?.();
  expect(
    (await settled).map((end) => (end.status === "fulfilled" ? end.value : (end.reason as Error).message)),
  ).toEqual([0, "one", 2, 3, 4]);
  expect(await queue.run(async () => "after")).toBe("after");
});
