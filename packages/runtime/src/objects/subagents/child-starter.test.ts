import { fail } from "@thinkery/sdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SubagentRow } from "../../store/subagent-row.ts";
import { ChildStarter } from "./child-starter.ts";

const row = { taskId: "task-1", facetName: "child", childThreadId: "global~ada/child", state: "running", createdAt: 0 };

/** Checks a sub-agent that responds as `start` says, at most `maxChecks` times in a row without a response. */
function openStarter(start: () => Promise<void>, maxChecks = 3) {
  const failures: unknown[] = [];
  const active = [row as SubagentRow];
  const starter = new ChildStarter({
    address: { agency: "global", path: ["ada"] },
    store: {
      subagents: {
        listActive: () => active,
        getAssignment: () => ({ message: "do it", from: {} }),
        listQueued: () => [],
        countRunning: () => active.length,
        get: () => active[0],
      },
    },
    registration: { get: () => ({ agent: { agency: "global", owner: "owner" } }) },
    resolver: { resolveForChild: async () => ({ type: {}, props: {}, policy: [], hitlTools: [] }) },
    limits: { maxChecks, maxActive: 32, maxSteps: 15 },
    children: { start, describe: async () => undefined },
    forks: { create: async () => {} },
    sync: async () => {},
    onFailed: async (_: unknown, status: string, error: string) => {
      failures.push([status, error]);
      active.length = 0;
    },
  } as unknown as ConstructorParameters<typeof ChildStarter>[0]);
  const check = async (times: number) => {
    for (let time = 0; time < times; time++) {
      starter.forget();
      await starter.startAll();
    }
  };
  return { check, failures };
}

beforeEach(() => vi.spyOn(console, "error").mockImplementation(() => {}));
afterEach(() => vi.restoreAllMocks());

test("a sub-agent that does not respond to the last check is interrupted", async () => {
  const start = vi.fn(() => Promise.reject(new Error("gone")));
  const { check, failures } = openStarter(start);
  await check(2);
  expect(failures).toEqual([]);
  await check(3);
  expect(failures).toEqual([["interrupted", "it did not respond"]]);
  expect(start).toHaveBeenCalledTimes(3);
});

test("checks without a response count only in a row", async () => {
  let calls = 0;
  const { check, failures } = openStarter(async () => {
    if (++calls % 3 !== 0) throw new Error("busy");
  });
  await check(12);
  expect([calls, failures]).toEqual([12, []]);
});

test("one that is refused for good fails at once with the reason", async () => {
  const { check, failures } = openStarter(() => Promise.reject(fail("not_found", "There is no such type.")));
  await check(1);
  expect(failures).toEqual([["failed", "There is no such type."]]);
});
