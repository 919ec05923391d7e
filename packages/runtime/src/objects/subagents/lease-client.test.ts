import type { DaySpending } from "@thinkery/sdk";
import { expect, test } from "vitest";
import type { AgentStore } from "../../store/agent-store.ts";
import { noReservation } from "../../store/usage-totals.ts";
import type { SpendingStatement } from "../../turn/budget/child-leases.ts";
import { LeaseClient, type LeaseResult } from "./lease-client.ts";

const day: DaySpending = { day: "2026-11-18", calls: 1, inputTokens: 80, outputTokens: 20, costUsd: 0.1, unknown: 0 };
const call = { steps: 1, tokens: 500, costUsd: 0 };

/** The leases of a sub-agent that has spent something, and what its parent was told. */
function openLeases(answer: LeaseResult) {
  const told: SpendingStatement[] = [];
  const canceled: string[] = [];
  const assignment = { taskId: "task-1", token: "secret", isLeased: true };
  const client = new LeaseClient({
    store: { childSpending: { readAllDays: () => [day], sumLeases: () => noReservation } } as unknown as AgentStore,
    task: () => ({ find: () => assignment as never, findTurn: () => undefined, isReported: false }),
    openParent: () =>
      Promise.resolve({
        updateLease(_, statement) {
          told.push(statement);
          return Promise.resolve(answer);
        },
      }),
    flush: () => {},
    onOver: (token) => canceled.push(token),
    waitUntil: () => {},
  });
  return { client, told, canceled };
}

test("a statement contains what the parent was not told, and calls in progress", async () => {
  const { client, told } = openLeases({});
  await client.leaseOwn(call);
  expect(told).toEqual([{ days: [day], reserved: call }]);
  expect(client.createStatement()).toEqual({ days: [], reserved: call });
});

test("a parent that has cancelled the task notes nothing, so it is told again when the sub-agent stops", async () => {
  const { client, canceled } = openLeases({ isOver: true });
  await expect(client.leaseOwn(call)).rejects.toThrow("The agent that delegated this has canceled it.");
  expect(canceled).toEqual(["secret"]);
  expect(client.createStatement()).toEqual({ days: [day], reserved: noReservation });
});

test("a call that ends after everything was released is not released twice", async () => {
  const { client } = openLeases({});
  const first = { ...call };
  await client.leaseOwn(first);
  client.releaseAll();
  await client.leaseOwn({ ...call });
  client.release(first);
  expect(client.createStatement().reserved).toEqual(call);
});
