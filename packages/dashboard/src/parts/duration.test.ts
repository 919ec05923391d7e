import { expect, test } from "vitest";
import { formatAge, formatAgo, formatDuration } from "./duration.ts";

test("a duration is formatted in its two largest units", () => {
  expect([8.9, 60, 725, 3_600, 11_520, 273_900, 86_400 + 120].map(formatDuration)).toEqual([
    "8 s",
    "1 min",
    "12 min",
    "1 h",
    "3 h 12 min",
    "3 d 4 h",
    "1 d",
  ]);
});

test("a time is formatted relative to now", () => {
  expect([-500, 59_000, 61_000, 2 * 3_600_000, 86_400_000, 9 * 86_400_000].map(formatAgo)).toEqual([
    "just now",
    "just now",
    "1 minute ago",
    "2 hours ago",
    "yesterday",
    "9 days ago",
  ]);
});

test("an age has only the largest unit", () => {
  expect([0, 59_999, 60_000, 3_700_000, 90_000_000].map(formatAge)).toEqual(["now", "now", "1 min", "1 h", "1 d"]);
});
