import { expect, test } from "vitest";
import type { Usage } from "../../model/model.ts";
import { countUsage } from "./model-call.ts";

const usage = (inputTokens: unknown, outputTokens: unknown = 0) => ({ inputTokens, outputTokens }) as Usage;
const dollar = () => 1;

test("unreported usage and unknown prices give an unknown cost, not a free call", () => {
  expect(countUsage(undefined, dollar)).toEqual({ inputTokens: 0, outputTokens: 0, costUsd: null });
  expect(countUsage(usage(5, 3), () => undefined)).toEqual({ inputTokens: 5, outputTokens: 3, costUsd: null });
  expect(countUsage({ ...usage(5, 3), cachedInputTokens: 2, reasoningTokens: 1 }, dollar)).toEqual({
    inputTokens: 5,
    outputTokens: 3,
    cachedInputTokens: 2,
    reasoningTokens: 1,
    costUsd: 1,
  });
});

test("invalid numbers do not get into the totals", () => {
  for (const invalid of [Number.NaN, -1, -Infinity, null, undefined, "x"])
    expect(countUsage(usage(invalid, 2), dollar)).toMatchObject({ inputTokens: 0, outputTokens: 2 });
  expect(countUsage(usage(Infinity, 1e300), dollar)).toMatchObject({ inputTokens: 1e9, outputTokens: 1e9 });
  expect(countUsage(usage(2.4, 2.5), dollar)).toMatchObject({ inputTokens: 2, outputTokens: 3 });
});
