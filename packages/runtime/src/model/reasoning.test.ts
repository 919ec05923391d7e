import { expect, test } from "vitest";
import { findNearestEffort, getEffort, getThinkingBudget } from "./reasoning.ts";

test("a budget counts as the effort it allows, and an effort as a budget; what is set explicitly wins", () => {
  expect([0, 500, 4096, 5000, 24_000, 40_000, 900_000].map((thinkingBudget) => getEffort({ thinkingBudget }))).toEqual([
    "none",
    "minimal",
    "low",
    "medium",
    "high",
    "xhigh",
    "max",
  ]);
  expect(getEffort({ reasoningEffort: "high", thinkingBudget: 0 })).toBe("none");
  expect(getThinkingBudget({ reasoningEffort: "none" })).toBe(0);
  expect(getThinkingBudget({ reasoningEffort: "max", thinkingBudget: 7 })).toBe(7);
  expect([getEffort(), getEffort({ temperature: 1 }), getThinkingBudget({})]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});

test("a level that a model lacks becomes the nearest one, the lower of two", () => {
  const supported = ["low", "medium", "high"] as const;
  expect(findNearestEffort("none", supported)).toBe("low");
  expect(findNearestEffort("max", supported)).toBe("high");
  expect(findNearestEffort("medium", supported)).toBe("medium");
  expect(findNearestEffort("medium", ["low", "high"])).toBe("low");
});
