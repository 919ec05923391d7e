import { expect, test } from "vitest";
import { sortUploads } from "./sort-uploads.ts";

const megabyte = 1024 * 1024;
const given = (path: string, size: number) => ({ path, file: { size } as File });

test("small files go together, large ones alone, and what cannot go is told with the reason", () => {
  const { groups, refused } = sortUploads([
    given("a", 1),
    given("con.txt", 1),
    given("large", 9 * megabyte),
    ...Array.from({ length: 5 }, (_, index) => given(`b${index}`, 7 * megabyte)),
    given("larger", 101 * megabyte),
  ]);
  expect(groups.map((group) => group.map(({ path }) => path))).toEqual([
    ["a", "b0", "b1", "b2", "b3"],
    ["large"],
    ["b4"],
  ]);
  expect(refused.map(({ given: { path }, reason }) => [path, reason])).toEqual([
    ["con.txt", "“con.txt” is a device on some machines"],
    ["larger", "it is larger than 100 MB"],
  ]);
});
