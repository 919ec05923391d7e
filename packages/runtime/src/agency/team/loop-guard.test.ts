import { expect, test } from "vitest";
import { LoopGuard } from "./loop-guard.ts";
import { MemoryContextStore } from "./memory-context-store.ts";

function createGuard(store = new MemoryContextStore(), maxTurns = 3) {
  return new LoopGuard({ store, getMaxTurns: () => maxTurns, listAgents: () => ["alice", "bob", "carol"] });
}

const noteTurns = (guard: LoopGuard, agent: string, count: number) => {
  for (let turn = 0; turn < count; turn++) guard.noteTurn(agent, false);
};

test("an agent that only writes to others is stopped after so many turns in a row", () => {
  const guard = createGuard();
  noteTurns(guard, "alice", 2);
  expect(guard.isTripped("alice")).toBe(false);
  noteTurns(guard, "alice", 1);
  expect([guard.isTripped("alice"), guard.isTripped("ALICE"), guard.isTripped("bob")]).toEqual([true, true, false]);
});

test("progress of anyone counts for all: who waits for the work of another is not stuck", () => {
  const guard = createGuard();
  noteTurns(guard, "alice", 2);
  noteTurns(guard, "bob", 3);
  guard.noteTurn("carol", true);
  expect([guard.isTripped("alice"), guard.isTripped("bob")]).toEqual([false, false]);
  noteTurns(guard, "alice", 2);
  expect(guard.isTripped("alice")).toBe(false);
});

test("a person's message sets all back, and counts are kept over a crash", () => {
  const store = new MemoryContextStore();
  noteTurns(createGuard(store), "alice", 2);
  const guard = createGuard(store);
  noteTurns(guard, "alice", 1);
  expect(guard.isTripped("alice")).toBe(true);
  const next = createGuard(store);
  next.reset();
  expect(next.isTripped("alice")).toBe(false);
  // And again: nothing remembers that they were set back already.
  noteTurns(next, "alice", 3);
  next.reset();
  expect(next.isTripped("alice")).toBe(false);
});

test("two agents that thank each other stop within the bound, no matter who began", () => {
  for (const maxTurns of [1, 2, 8]) {
    const guard = createGuard(new MemoryContextStore(), maxTurns);
    let turns = 0;
    for (let speaker = "alice"; turns < 100; turns++) {
      guard.noteTurn(speaker, false);
      speaker = speaker === "alice" ? "bob" : "alice";
      if (guard.isTripped(speaker)) break;
    }
    expect(turns).toBeLessThanOrEqual(2 * maxTurns);
  }
});
