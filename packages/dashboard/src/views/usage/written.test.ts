import { newBudgetSchema } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { budgetIn, limitText } from "./written.ts";

test("a budget is read as people write it", () => {
  expect(budgetIn({ per: "day", costUsd: "$0.50", tokens: "500k", steps: "1,200", seconds: "90" })).toEqual({ per: "day", costUsd: 0.5, tokens: 500_000, steps: 1200, seconds: 5400 });
  expect(budgetIn({ per: "ever", tokens: "2M" })).toEqual({ per: "ever", tokens: 2_000_000 });
  expect(budgetIn({ per: "ever", tokens: "0.3M", costUsd: ".3" })).toEqual({ per: "ever", tokens: 300_000, costUsd: 0.3 });
});

test("what is no limit goes to the host, which refuses it at its field", () => {
  for (const [text, sent] of [["0", 0], ["-5", -5], ["many", "many"], ["1e9", "1e9"], ["5 dollars", "5 dollars"]] as const) {
    const budget = budgetIn({ per: "day", costUsd: text });
    expect(budget).toEqual({ per: "day", costUsd: sent });
    expect(newBudgetSchema.safeParse(budget).error?.issues.map(({ path }) => path)).toEqual([["costUsd"]]);
  }
});

test("a limit that is set is shown as it would be written", () => {
  expect([limitText("seconds", 5400), limitText("tokens", 500_000), limitText("costUsd", 0.3), limitText("steps", undefined)]).toEqual(["90", "500000", "0.3", ""]);
  expect(budgetIn({ per: "day", seconds: limitText("seconds", 100) }).seconds).toBe(100);
});
