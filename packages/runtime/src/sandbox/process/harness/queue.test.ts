import { expect, test } from "vitest";
import { Queue } from "./queue.ts";

test("so many go at a time, in the order in which they came, and one that fails lets the next one go", async () => {
  const queue = new Queue(2);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3, 4].map((n) =>
    queue.run(async () => {
      begun.push(n);
      await new Promise<void>((end) => ends.push(end));
      if (n === 1) throw new Error("one");
      return n;
    }),
  );
  const settled = Promise.allSettled(all);
  const turn = () => new Promise((resolve) => setTimeout(resolve));
  await turn();
  expect(begun).toEqual([0, 1]);
  ends[1]?.();
  await turn();
  expect(begun).toEqual([0, 1, 2]);
  ends[0]?.();
  ends[2]?.();
  await turn();
  expect(begun).toEqual([0, 1, 2, 3, 4]);
  ends[3]?.();
  ends[4]?.();
  expect(
    (await settled).map((end) => (end.status === "fulfilled" ? end.value : (end.reason as Error).message)),
  ).toEqual([0, "one", 2, 3, 4]);
  expect(await queue.run(async () => "after")).toBe("after");
});
