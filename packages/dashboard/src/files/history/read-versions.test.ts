import type { Version } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { joined, type ReadVersions } from "./read-versions.ts";

const read = (from: number, to: number, next?: number): ReadVersions => ({
  versions: Array.from({ length: from - to + 1 }, (_, index): Version => ({ id: from - index, at: "", origin: { kind: "user" }, changes: [] })),
  next,
});
const ids = ({ versions, next }: ReadVersions) => [...versions.map(({ id }) => id), `next ${next}`];

test("a newer page takes the place of what it covers, and older ones that were read stay", () => {
  expect(ids(joined(read(12, 10, 10), read(11, 5, 5)))).toEqual([12, 11, 10, 9, 8, 7, 6, 5, "next 5"]);
  expect(ids(joined(read(3, 1), read(3, 1)))).toEqual([3, 2, 1, "next undefined"]);
});

test("where more was made than fits a page, what would be missing is not passed over", () => {
  expect(ids(joined(read(30, 28, 28), read(11, 5, 5)))).toEqual([30, 29, 28, "next 28"]);
});
