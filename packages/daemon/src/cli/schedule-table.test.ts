import type { Schedule, ScheduleRun } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { formatRunRow, formatScheduleRow } from "./schedule-table.ts";

const now = Date.parse("2026-05-01T12:00:00Z");

const ran: ScheduleRun = {
  dueAt: "2026-05-01T11:59:00.000Z",
  at: "2026-05-01T11:59:00.000Z",
  status: "ran",
  runId: "run-1",
};

const schedule: Schedule = {
  id: "schedule-1",
  when: "0 9 * * *",
  timeZone: "Europe/Berlin",
  input: "What is new?",
  missed: "once",
  overlap: "queue",
  paused: false,
  nextAt: "2026-05-02T07:00:00.000Z",
  next: ["2026-05-02T07:00:00.000Z"],
  history: [],
  createdBy: "owner",
  createdAt: "2026-05-01T00:00:00.000Z",
};

test("a schedule is shown with its next time, local and relative", () => {
  expect(formatScheduleRow(schedule, now, "Europe/Berlin")).toEqual([
    "schedule-1",
    "0 9 * * * Europe/Berlin",
    "2026-05-02 09:00:00 (in 19h)",
    "",
    "What is new?",
  ]);
});

test.each([
  [{ when: { every: 5400 } }, ["schedule-1", "every 1h 30m Europe/Berlin", expect.anything(), "", "What is new?"]],
  [{ paused: true, nextAt: null }, [expect.anything(), expect.anything(), "paused", "", "What is new?"]],
  [{ when: 90, nextAt: null }, [expect.anything(), "once, after 1m 30s", "over", "", "What is new?"]],
  [{ history: [{ ...ran, status: "missed" }] }, expect.arrayContaining(["MISSED"])],
  [{ history: [ran] }, expect.arrayContaining(["running"])],
  [{ history: [{ ...ran, outcome: "failed" }] }, expect.arrayContaining(["failed"])],
  [{ input: `line\n${"x".repeat(60)}` }, expect.arrayContaining([`line ${"x".repeat(34)}…`])],
] as [Partial<Schedule>, unknown][])("a schedule with %j", (fields, expected) => {
  expect(formatScheduleRow({ ...schedule, ...fields }, now, "UTC")).toEqual(expected);
});

test("runs are shown with their turn, and missed times with their number", () => {
  expect(formatRunRow({ ...ran, manual: true, outcome: "completed" }, now, "UTC")).toEqual([
    "2026-05-01 11:59:00 (1m ago)",
    "completed",
    "run-1",
    "run by request",
  ]);
  const missed: ScheduleRun = { ...ran, status: "missed", count: 7, isMore: true, until: "2026-05-01T11:59:30.000Z" };
  expect(formatRunRow(missed, now, "UTC")[3]).toBe("at least 7 times, until 2026-05-01 11:59:30 (30s ago)");
});
