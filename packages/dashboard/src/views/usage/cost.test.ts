import { expect, test } from "vitest";
import { describeKnownCost } from "./cost.ts";

const figures = { inputTokens: 1, outputTokens: 1, calls: 1, seconds: 1 };
const model = (model: string, costUsd: number | null) => ({ ...figures, model, costUsd });

test("a cost is told where it is known, as unknown where it is not, and never as nothing", () => {
  expect(describeKnownCost({ total: { ...figures, costUsd: 0.5 }, byModel: [model("a", 0.5)] })).toEqual({
    words: "$0.500",
    unknown: [],
  });
  expect(describeKnownCost({ total: { ...figures, costUsd: null }, byModel: [model("a", null)] })).toEqual({
    words: "unknown",
    unknown: ["a"],
  });
  expect(
    describeKnownCost({ total: { ...figures, costUsd: null }, byModel: [model("a", null), model("b", 0)] }).words,
  ).toBe("unknown");
});

test("where some prices are known, what these came to is the least it cost", () => {
  expect(
    describeKnownCost({
      total: { ...figures, costUsd: null },
      byModel: [model("a", 1), model("b", null), model("c", 0.25)],
    }),
  ).toEqual({ words: "at least $1.25", unknown: ["b"] });
});
