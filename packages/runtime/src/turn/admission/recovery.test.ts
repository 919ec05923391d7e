import { turnLimitsSchema } from "@thinkery/sdk/internal";
import { expect, test } from "vitest";
import type { TurnRow } from "../../store/turns.ts";
import { recover } from "./recovery.ts";

const limits = turnLimitsSchema.parse({});
const turn: TurnRow = {
  id: "t",
  number: 1,
  status: "running",
  step: 2,
  attempt: 0,
  crashCount: 0,
  pausedMs: 0,
  boot: "first",
};

test("a turn that was cut off goes on, and the attempt is counted", () => {
  const { events, failure } = recover(turn, { id: "second", after: "stop" }, limits);
  expect(failure).toBeUndefined();
  expect(events).toEqual([
    { type: "run.resumed", data: { runId: "t", reason: "recovered", attempt: 1, crashes: 0, boot: "second" } },
  ]);
});

test("a crash is a strike, and the second one ends the turn", () => {
  const once = recover(turn, { id: "second", after: "crash" }, limits);
  expect(once.events[0]).toMatchObject({ data: { crashes: 1 } });
  expect(once.failure).toBeUndefined();
  const twice = recover(
    { ...turn, crashCount: 1, attempt: 1, boot: "second" },
    { id: "third", after: "crash" },
    limits,
  );
  expect(twice.failure?.code).toBe("crashed");
});

test("an object that slept in the same life of main gets no strike", () => {
  const { events } = recover(turn, { id: "first", after: "crash" }, limits);
  expect(events[0]).toMatchObject({ data: { crashes: 0, attempt: 1 } });
});

test("a turn that gets nowhere is given up after its attempts", () => {
  const last = recover({ ...turn, attempt: limits.maxAttempts - 1 }, { id: "second", after: "stop" }, limits);
  expect(last.failure).toBeUndefined();
  const over = recover({ ...turn, attempt: limits.maxAttempts }, { id: "second", after: "stop" }, limits);
  expect(over.failure?.code).toBe("no_progress");
});
