import { expect, test } from "vitest";
import {
  formatAmount,
  formatUsedAmount,
  formatBytes,
  formatCost,
  formatCount,
  formatPercent,
  formatSeconds,
  formatTokens,
} from "./amount.ts";

test("amounts are formatted in a few characters", () => {
  expect([0, 840, 1000, 12_440, 999_949, 999_950, 1_234_567].map(formatTokens)).toEqual([
    "0",
    "840",
    "1k",
    "12.4k",
    "999.9k",
    "1M",
    "1.2M",
  ]);
  expect([0, 1, 12, 2048, 3_500_000].map(formatBytes)).toEqual(["0 bytes", "1 byte", "12 bytes", "2 KB", "3.3 MB"]);
  expect([0, 0.2, 8.9, 725].map(formatSeconds)).toEqual(["0 s", "<1 s", "8 s", "12 min"]);
  expect([0, 1, 12_440].map((count) => formatCount(count, "call"))).toEqual(["0 calls", "1 call", "12,440 calls"]);
});

test("an unknown or very small cost is not shown as zero", () => {
  expect([null, 0, 0.00001, 0.00234, 0.0567, 12.345].map(formatCost)).toEqual([
    "cost unknown",
    "$0",
    "<$0.0001",
    "$0.0023",
    "$0.057",
    "$12.35",
  ]);
});

test("each budget kind is formatted in its own unit", () => {
  expect([
    formatAmount("steps", 1),
    formatAmount("tokens", 50_000),
    formatAmount("costUsd", 5),
    formatAmount("seconds", 5400),
  ]).toEqual(["1 call", "50k tokens", "$5.00", "1 h 30 min"]);
  expect([
    formatUsedAmount("steps", 1, 2),
    formatUsedAmount("tokens", 1100, 5000),
    formatUsedAmount("costUsd", 0, 5),
    formatUsedAmount("seconds", 0.5, 60),
  ]).toEqual(["1 of 2 calls", "1.1k of 5k tokens", "$0 of $5.00", "<1 s of 1 min"]);
});

test("a percentage rounds to 0% or 100% only if it is exact", () => {
  expect([0, 1, 15, 312, 996, 1000, 1400].map((part) => formatPercent(part, 1000))).toEqual([
    "0%",
    "<1%",
    "2%",
    "31%",
    "99%",
    "100%",
    "140%",
  ]);
});
