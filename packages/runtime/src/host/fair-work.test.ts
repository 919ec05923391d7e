import { expect, test } from "vitest";
import { completeWork, fullSlice, Pacer, runFairly, type Work } from "./fair-work.ts";

function* count(slices: number, onSlice: (slice: number) => void = () => {}): Work<number> {
  for (let slice = 1; slice <= slices; slice++) {
    onSlice(slice);
    yield fullSlice;
  }
  return slices;
}

test("others run between the slices", async () => {
  const seen: string[] = [];
  const timer = setInterval(() => seen.push("other"), 1);
  const result = await runFairly(() => count(3, (slice) => seen.push(`slice ${slice}`)));
  clearInterval(timer);
  expect(result).toBe(3);
  expect(seen.indexOf("other")).toBeGreaterThan(seen.indexOf("slice 1"));
  expect(seen.indexOf("other")).toBeLessThan(seen.indexOf("slice 2"));
});

test("the slices of two works alternate with pauses, one at a time", async () => {
  const seen: string[] = [];
  const run = (name: string) => runFairly(() => count(3, () => seen.push(name)));
  const timer = setInterval(() => seen.push("-"), 1);
  await Promise.all([run("a"), run("b")]);
  clearInterval(timer);
  expect(seen.join("")).not.toMatch(/[ab]{2}/);
  expect(seen.filter((name) => name !== "-").sort()).toEqual(["a", "a", "a", "b", "b", "b"]);
});

test("work starts again if what it depends on changes, and in the end runs without pauses", async () => {
  let revision = 0;
  const starts: number[] = [];
  const timer = setInterval(() => revision++, 1);
  const result = await runFairly(
    () => {
      starts.push(revision);
      return count(3);
    },
    () => revision,
  );
  clearInterval(timer);
  expect(result).toBe(3);
  expect(starts).toHaveLength(4);
  expect(new Set(starts).size).toBe(4);
});

test("work that is started again cleans up", async () => {
  let revision = 0;
  let cleanedUp = 0;
  function* work(): Work<void> {
    try {
      yield* count(2, () => revision++);
    } finally {
      cleanedUp++;
    }
  }
  await runFairly(work, () => Math.min(revision, 1));
  expect(cleanedUp).toBe(2);
});

test("too much work is refused, in slices and at once", async () => {
  const endless = () => count(Number.POSITIVE_INFINITY);
  expect(() => completeWork(endless())).toThrow("too much work");
  function* large(): Work<void> {
    yield 40_000_000;
  }
  await expect(runFairly(large)).rejects.toThrow("too much work");
});

test("an error of the work is thrown, and others can go on", async () => {
  function* broken(): Work<void> {
    yield fullSlice;
    throw new Error("broken");
  }
  await expect(runFairly(broken)).rejects.toThrow("broken");
  expect(await runFairly(() => count(1))).toBe(1);
});

test("a pacer lets others run", async () => {
  const seen: string[] = [];
  const timer = setInterval(() => seen.push("other"), 1);
  const pacer = new Pacer();
  for (let piece = 0; piece < 30; piece++) {
    await pacer.pauseIfDue(fullSlice / 10);
    seen.push("piece");
  }
  clearInterval(timer);
  const pieces = seen
    .join(" ")
    .split(/(?:other ?)+/)
    .map((run) => run.trim().split(" ").length);
  expect(Math.max(...pieces)).toBeLessThanOrEqual(10);
});
