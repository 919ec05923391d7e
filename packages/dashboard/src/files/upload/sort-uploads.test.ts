import { expect, test } from "vitest";
import { sortUploads } from "./sort-uploads.ts";

const megabyte = 1024 * 1024;
const pick = (path: string, size: number) => ({ path, file: { size } as File });

test("small files are batched, large ones sent alone, and invalid ones rejected with a reason", () => {
  const { groups, rejected } = sortUploads([
    pick("a", 1),
    pick("con.txt", 1),
    pick("large", 9 * megabyte),
    ...Array.from({ length: 5 }, (_, index) => pick(`b${index}`, 7 * megabyte)),
    pick("larger", 101 * megabyte),
  ]);
  expect(groups.map((group) => group.map(({ path }) => path))).toEqual([
    ["a", "b0", "b1", "b2", "b3"],
    ["large"],
    ["b4"],
  ]);
  expect(rejected.map(({ picked: { path }, reason }) => [path, reason])).toEqual([
    ["con.txt", "“con.txt” is a device on some systems"],
    ["larger", "larger than 100 MB"],
  ]);
});
