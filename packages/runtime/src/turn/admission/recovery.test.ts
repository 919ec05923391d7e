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

test("an interrupted turn resumes, and the attempt is counted", () => {
  const { events, failure } = recover(turn, { id: "second", after: "stop" }, limits);
  expect(failure).toBeUndefined();
  expect(events).toEqual([
    { type: "run.resumed", data: { runId: "t", reason: "recovered", attempt: 1, crashes: 0, boot: "second" } },
  ]);
});

test("crashes are counted, and the second one ends the turn", () => {
  const first = recover(turn, { id: "second", after: "crash" }, limits);
  expect(first.events[0]).toMatchObject({ data: { crashes: 1 } });
  expect(first.failure).toBeUndefined();
  const second = recover(
    { ...turn, crashCount: 1, attempt: 1, boot: "second" },
    { id: "third", after: "crash" },
    limits,
  );
  expect(second.failure?.code).toBe("crashed");
});

test("an object evicted during the same boot does not count as a crash", () => {
  const { events } = recover(turn, { id: "first", after: "crash" }, limits);
  expect(events[0]).toMatchObject({ data: { crashes: 0, attempt: 1 } });
});

test("a turn without progress fails after its last attempt", () => {
  const last = recover({ ...turn, attempt: limits.maxAttempts - 1 }, { id: "second", after: "stop" }, limits);
  expect(last.failure).toBeUndefined();
  const exhausted = recover({ ...turn, attempt: limits.maxAttempts }, { id: "second", after: "stop" }, limits);
  expect(exhausted.failure?.code).toBe("no_progress");
});
