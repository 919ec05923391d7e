import { newBudgetSchema } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { parseBudget, formatLimit } from "./budget-input.ts";

test("parses budgets as people write them", () => {
  expect(parseBudget({ per: "day", costUsd: "$0.50", tokens: "500k", steps: "1,200", seconds: "90" })).toEqual({
    per: "day",
    costUsd: 0.5,
    tokens: 500_000,
    steps: 1200,
    seconds: 5400,
  });
  expect(parseBudget({ per: "ever", tokens: "2M" })).toEqual({ per: "ever", tokens: 2_000_000 });
  expect(parseBudget({ per: "ever", tokens: "0.3M", costUsd: ".3" })).toEqual({
    per: "ever",
    tokens: 300_000,
    costUsd: 0.3,
  });
});

test("invalid limits are sent to the host, which rejects them at their field", () => {
  for (const [text, sent] of [
    ["0", 0],
    ["-5", -5],
    ["many", "many"],
    ["1e9", "1e9"],
    ["5 dollars", "5 dollars"],
  ] as const) {
    const budget = parseBudget({ per: "day", costUsd: text });
    expect(budget).toEqual({ per: "day", costUsd: sent });
    expect(newBudgetSchema.safeParse(budget).error?.issues.map(({ path }) => path)).toEqual([["costUsd"]]);
  }
});

test("formats a limit as it would be typed", () => {
  expect([
    formatLimit("seconds", 5400),
    formatLimit("tokens", 500_000),
    formatLimit("costUsd", 0.3),
    formatLimit("steps", undefined),
  ]).toEqual(["90", "500000", "0.3", ""]);
  expect(parseBudget({ per: "day", seconds: formatLimit("seconds", 100) }).seconds).toBe(100);
});
