import { expect, test } from "vitest";
import { bytes, cost, tokens } from "./amount.ts";

test("amounts are told in a few characters", () => {
  expect([0, 840, 1000, 12_440, 999_949, 999_950, 1_234_567].map(tokens)).toEqual(["0", "840", "1k", "12.4k", "999.9k", "1M", "1.2M"]);
  expect([12, 2048, 3_500_000].map(bytes)).toEqual(["12 bytes", "2 KB", "3.3 MB"]);
});

test("a cost that is not known is not shown as nothing, and a small one neither", () => {
  expect([null, 0, 0.00001, 0.00234, 0.0567, 12.345].map(cost)).toEqual(["cost unknown", "$0", "under $0.0001", "$0.0023", "$0.057", "$12.35"]);
});
