import { expect, test } from "vitest";
import { checkRecurrence, parseWhen } from "./recurrence.ts";

const now = Date.parse("2026-05-01T12:00:00.250Z");

const findNext = (when: Parameters<typeof parseWhen>[0], timeZone?: string) => {
  const recurrence = parseWhen(when, timeZone, now);
  checkRecurrence(recurrence, when, now);
  return new Date(recurrence.next(now - 1) ?? 0).toISOString();
};

test.each([
  [60, undefined, "2026-05-01T12:01:01.000Z"],
  [0, undefined, "2026-05-01T12:00:01.000Z"],
  [{ every: 60 }, undefined, "2026-05-01T12:01:01.000Z"],
  ["2026-05-02T08:00:00Z", "Europe/Berlin", "2026-05-02T08:00:00.000Z"],
  ["2026-05-02T08:00:00+05:30", undefined, "2026-05-02T02:30:00.000Z"],
  ["2026-05-02T08:00", "Europe/Berlin", "2026-05-02T06:00:00.000Z"],
  ["2026-05-02 08:00:30.5", "UTC", "2026-05-02T08:00:30.500Z"],
  ["2026-05-02", undefined, "2026-05-02T00:00:00.000Z"],
  ["2027-03-28T02:30", "Europe/Berlin", "2027-03-28T01:00:00.000Z"],
  ["2026-10-25T02:30", "Europe/Berlin", "2026-10-25T00:30:00.000Z"],
  ["0 9 * * *", "Europe/Berlin", "2026-05-02T07:00:00.000Z"],
] as const)("%j in %s is due at %s", (when, timeZone, expected) => {
  expect(findNext(when, timeZone)).toBe(expected);
});

test.each([
  ["2026-05-01T12:00:00Z", "is in the past: it is now 2026-05-01T12:00:00.250Z"],
  ["2026-02-30T12:00", "is not a date"],
  ["2026-13-01", "is not a date"],
  ["2026-05-02T08:00:00 CET", "is not a date"],
  ["2500-01-01", "is more than 100 years away"],
  ["0 0 31 4 *", "never happens"],
])("%s is refused", (when, message) => {
  expect(() => findNext(when)).toThrow(message);
});

test("intervals are counted from the start, so that delays do not add up", () => {
  const recurrence = parseWhen({ every: 7 }, undefined, now);
  const first = recurrence.next(now)!;
  expect(recurrence.next(first + 6999)).toBe(first + 7000);
  expect(recurrence.next(first + 7000 * 1e6 + 3)).toBe(first + 7000 * (1e6 + 1));
});
