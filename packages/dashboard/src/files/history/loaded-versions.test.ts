import type { Version } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { mergePages, type LoadedVersions } from "./loaded-versions.ts";

const createLoaded = (from: number, to: number, next?: number): LoadedVersions => ({
  versions: Array.from({ length: from - to + 1 }, (_, index): Version => ({
    id: from - index,
    at: "",
    origin: { kind: "user" },
    changes: [],
  })),
  next,
});
const listIds = ({ versions, next }: LoadedVersions) => [...versions.map(({ id }) => id), `next ${next}`];

test("a newer page replaces the versions it covers, and older ones stay", () => {
  expect(listIds(mergePages(createLoaded(12, 10, 10), createLoaded(11, 5, 5)))).toEqual([
    12,
    11,
    10,
    9,
    8,
    7,
    6,
    5,
    "next 5",
  ]);
  expect(listIds(mergePages(createLoaded(3, 1), createLoaded(3, 1)))).toEqual([3, 2, 1, "next undefined"]);
});

test("older versions are dropped if there would be a gap", () => {
  expect(listIds(mergePages(createLoaded(30, 28, 28), createLoaded(11, 5, 5)))).toEqual([30, 29, 28, "next 28"]);
});
