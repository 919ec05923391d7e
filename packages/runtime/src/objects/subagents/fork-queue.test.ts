import type { ForkMerge } from "@thinkery/sdk";
import { expect, test, vi } from "vitest";
import type { SubagentRow } from "../../store/subagent-row.ts";
import { ForkQueue } from "./fork-queue.ts";

const merged = (branch: string): ForkMerge => ({ branch, into: "main", isMerged: true, changes: [], overlaps: [] });

function open(merge: (row: SubagentRow, signal: AbortSignal, onLanding: () => void) => Promise<ForkMerge>) {
  const rows = new Map<string, SubagentRow>();
  const ends: string[] = [];
  const merges: (ForkMerge | undefined)[] = [];
  const waiting: Promise<unknown>[] = [];
  const queue = new ForkQueue({
    subagents: {
      listMerging: () => [...rows.values()].filter(({ state }) => state === "merging"),
      get: (taskId) => rows.get(taskId),
    },
    forks: {
      merge,
      describeFailure: async ({ taskId }, message) => ({ ...merged(taskId), isMerged: false, reason: message }),
    },
    async onMerged(row, merge) {
      ends.push(row.taskId);
      merges.push(merge);
      rows.set(row.taskId, { ...row, state: "complete" });
    },
    waitUntil: (work) => void waiting.push(work),
    retryDelayMs: 1,
  });
  return {
    queue,
    ends,
    merges,
    add(taskId: string) {
      rows.set(taskId, { taskId, token: taskId, childThreadId: taskId, state: "merging" } as SubagentRow);
      queue.startAll();
    },
    cancel: (taskId: string) => rows.set(taskId, { ...(rows.get(taskId) as SubagentRow), state: "cancelled" }),
    settled: () => Promise.all(waiting),
  };
}

test("merges are made one after the other, each once", async () => {
  let active = 0;
  const order: string[] = [];
  const { add, queue, settled, ends } = open(async ({ taskId }) => {
    expect(++active).toBe(1);
    order.push(taskId);
    await new Promise((resolve) => setTimeout(resolve, 5));
    active--;
    return merged(taskId);
  });
  for (const taskId of ["a", "b", "c"]) add(taskId);
  queue.startAll();
  await settled();
  expect(order).toEqual(["a", "b", "c"]);
  expect(ends).toEqual(order);
});

test("a merge that fails unexpectedly is tried again, and does not hold up the next", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  let attempts = 0;
  const { add, queue, settled, ends } = open(async ({ taskId }) => {
    if (taskId === "a" && ++attempts < 5) throw new Error("disconnected");
    return merged(taskId);
  });
  add("a");
  add("b");
  await settled();
  expect([attempts, ends]).toEqual([3, ["b"]]);
  expect(log).toHaveBeenCalledOnce();
  log.mockRestore();
  // The next reconciliation takes it up again.
  queue.startAll();
  await settled();
  expect(ends).toEqual(["b", "a"]);
});

test("a merge that keeps failing unexpectedly ends without it", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => {});
  let attempts = 0;
  const { add, queue, settled, ends, merges } = open(() => {
    attempts++;
    return Promise.reject(new Error("disconnected"));
  });
  add("a");
  for (let round = 1; round < 20; round++) {
    await settled();
    queue.startAll();
  }
  await settled();
  log.mockRestore();
  expect([attempts, ends]).toEqual([15, ["a"]]);
  expect(merges).toEqual([expect.objectContaining({ isMerged: false, reason: "disconnected" })]);
});

test("a merge of a sub-agent that is cancelled does not land", async () => {
  let endCheck = () => {};
  const checked = new Promise<void>((resolve) => (endCheck = resolve));
  let landed = false;
  const { add, cancel, queue, settled, ends } = open(async ({ taskId }, _, onLanding) => {
    await checked;
    onLanding();
    landed = true;
    return merged(taskId);
  });
  add("a");
  await Promise.resolve();
  cancel("a");
  const cancelled = queue.cancel("a");
  endCheck();
  await cancelled;
  await settled();
  expect([landed, ends]).toEqual([false, []]);
});

test("nothing is recorded once the agent stops", async () => {
  const { add, queue, settled, ends } = open(
    (_, signal) => new Promise((__, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error))),
  );
  add("a");
  await new Promise((resolve) => setTimeout(resolve, 1));
  queue.halt();
  queue.startAll();
  await settled();
  expect(ends).toEqual([]);
});
