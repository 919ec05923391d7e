import type { ScheduleRun } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { describeCron } from "./describe-cron.ts";
import { describeMissedPolicy, describeRecurrence, describeRun, formatInZone, isCron } from "./describe-schedule.ts";
import { readWhen, type WhenDraft } from "./schedule-input.ts";

test("common cron expressions are described in words, and no other", () => {
  const expressions: [string, string | undefined][] = [
    ["0 9 * * *", "every day at 09:00"],
    ["@daily", "every day at 00:00"],
    ["0 9 * * 1-5", "at 09:00, Monday to Friday"],
    ["5 8,20 * * mon,THU", "at 08:05 and 20:05, on Monday and Thursday"],
    ["0 9 * * 7", "at 09:00, on Sunday"],
    ["0 0 1 * *", "at 00:00, on day 1 of the month"],
    ["*/15 * * * *", "every 15 minutes"],
    ["* * * * *", "every minute"],
    ["30 * * * *", "every hour at :30"],
    ["@hourly", "every hour"],
    ["0 */6 * * *", "every 6 hours"],
    ["0 30 7 * * *", "every day at 07:30"],
    ["*/10 * * * 1-5", "every 10 minutes, Monday to Friday"],
    ["15 30 7 * * *", undefined],
    ["0 9 1 1 *", undefined],
    ["0 9 1 * 1", undefined],
    ["0 9-17 * * *", undefined],
    ["0 25 * * *", undefined],
    ["0 9 * *", undefined],
    ["@never", undefined],
    ["constructor", undefined],
    ["", undefined],
  ];
  for (const [expression, words] of expressions) expect(describeCron(expression), expression).toBe(words);
});

test("when a schedule is due is described in words", () => {
  expect([60, { every: 5400 }, "2030-01-01T00:00", "0 9 * * *", "0 9 29 2 *"].map(describeRecurrence)).toEqual([
    "once",
    "every 1 h 30 min",
    "once",
    "every day at 09:00",
    "by cron expression",
  ]);
  expect([isCron("2030-01-01"), isCron("@daily")]).toEqual([false, true]);
});

test("a run says what became of it, and missed times how many there were", () => {
  const describe = (part: Partial<ScheduleRun>) => describeRun({ dueAt: "", at: "", status: "ran", ...part });
  expect(describe({ outcome: "completed" })).toEqual({ text: "completed", tone: "ok" });
  expect(describe({ outcome: "failed", manual: true })).toEqual({ text: "failed, by request", tone: "bad" });
  expect(describe({}).text).toBe("running");
  expect(describe({ status: "missed" })).toEqual({ text: "missed", tone: "warn" });
  expect(describe({ status: "missed", count: 12, isMore: true }).text).toBe("missed at least 12 times");
  expect(describe({ status: "failed", error: "Stopped." })).toEqual({ text: "not accepted: Stopped.", tone: "bad" });
  expect(describeMissedPolicy({ missed: "skip", maxDelaySeconds: 3600 })).toMatch(
    /skipped\. A time is missed after 1 h\.$/,
  );
});

test("a time is formatted in its zone, and as it is in an unknown one", () => {
  expect(formatInZone("2030-01-01T12:00:00Z", "America/New_York")).toMatch(/7:00/);
  expect(formatInZone("2030-01-01T12:00:00Z", "Nowhere/At_All")).toBe("2030-01-01T12:00:00Z");
});

test("a form says when a schedule is due, or that something is missing or wrong", () => {
  const draft: WhenDraft = { kind: "every", amount: "2", unit: "hours", cron: " 0 9 * * * ", at: "", timeZone: "UTC" };
  expect(readWhen(draft)).toEqual({ when: { every: 7200 } });
  expect(readWhen({ ...draft, kind: "in", amount: "1.5" })).toEqual({ when: 5400 });
  expect(readWhen({ ...draft, kind: "cron" })).toEqual({ when: "0 9 * * *", timeZone: "UTC" });
  expect(readWhen({ ...draft, kind: "at" })).toBeUndefined();
  expect(readWhen({ ...draft, amount: " " })).toBeUndefined();
  for (const amount of ["x", "-1", "0", "1e999"]) expect(readWhen({ ...draft, amount })).toHaveProperty("issue");
});
