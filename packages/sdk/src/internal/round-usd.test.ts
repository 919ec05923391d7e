import { expect, test } from "vitest";
import { roundUsd } from "./round-usd.ts";

test("amounts are rounded to nanodollars", () => {
  expect(0.1 + 0.2).not.toBe(0.3);
  expect(roundUsd(0.1 + 0.2)).toBe(0.3);
  expect(roundUsd(1.5e-7)).toBe(1.5e-7);
  expect(roundUsd(0)).toBe(0);
});
