import { expect, test, vi } from "vitest";
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

test("work starts again if what it depends on changes, and gives up if that never ends", async () => {
  let revision = 0;
  let starts = 0;
  const changing = runFairly(
    () => {
      starts++;
      return count(3, () => revision++);
    },
    { getRevision: () => revision },
  );
  await expect(changing).rejects.toMatchObject({ code: "conflict" });
  expect(starts).toBe(13);
});

test("those who change what work depends on are held back after a few starts", async () => {
  let revision = 0;
  let isHeld = false;
  let holds = 0;
  let starts = 0;
  const result = await runFairly(
    () => {
      starts++;
      return count(3, () => void (isHeld || revision++));
    },
    {
      getRevision: () => revision,
      hold() {
        isHeld = true;
        holds++;
        return () => (isHeld = false);
      },
    },
  );
  expect([result, starts, holds, isHeld]).toEqual([3, 4, 1, false]);
});

test("however much one owner asks for, another gets its turn after one slice", async () => {
  const seen: string[] = [];
  const run = (owner: string, slices: number) => runFairly(() => count(slices, () => seen.push(owner)), { owner });
  const greedy = Promise.all(Array.from({ length: 40 }, () => run("greedy", 2)));
  await vi.waitUntil(() => seen.length > 0);
  const before = seen.length;
  await run("other", 3);
  const meanwhile = seen.slice(before, seen.lastIndexOf("other"));
  // At most one slice of the greedy owner before each of the other's.
  expect(meanwhile.filter((owner) => owner === "greedy").length).toBeLessThanOrEqual(3);
  await greedy;
  expect(seen.filter((owner) => owner === "greedy")).toHaveLength(80);
});

test("one owner cannot have endless work waiting, and what is refused costs others nothing", async () => {
  function* small(): Work<void> {
    yield 1;
  }
  const first = runFairly(() => count(2), { owner: "other" });
  const results = await Promise.allSettled(Array.from({ length: 600 }, () => runFairly(small, { owner: "greedy" })));
  const refused = results.filter(({ status }) => status === "rejected");
  expect(refused).toHaveLength(100);
  for (const result of refused) expect(result).toMatchObject({ reason: { code: "rate_limited" } });
  expect(await first).toBe(2);
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
  await runFairly(work, { getRevision: () => Math.min(revision, 1) });
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
