import { expect, test } from "vitest";
import { describeKnownCost } from "./cost.ts";

const figures = { inputTokens: 1, outputTokens: 1, calls: 1, seconds: 1 };
const model = (model: string, costUsd: number | null) => ({ ...figures, model, costUsd });

test("an unknown cost is shown as unknown, never as zero", () => {
  expect(describeKnownCost({ total: { ...figures, costUsd: 0.5 }, byModel: [model("a", 0.5)] })).toEqual({
    text: "$0.500",
    unknown: [],
  });
  expect(describeKnownCost({ total: { ...figures, costUsd: null }, byModel: [model("a", null)] })).toEqual({
    text: "unknown",
    unknown: ["a"],
  });
  expect(
    describeKnownCost({ total: { ...figures, costUsd: null }, byModel: [model("a", null), model("b", 0)] }).text,
  ).toBe("unknown");
});

test("if some prices are known, their sum is shown as the minimum cost", () => {
  expect(
    describeKnownCost({
      total: { ...figures, costUsd: null },
      byModel: [model("a", 1), model("b", null), model("c", 0.25)],
    }),
  ).toEqual({ text: "at least $1.25", unknown: ["b"] });
});
