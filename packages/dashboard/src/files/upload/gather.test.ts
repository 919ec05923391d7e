import { expect, test } from "vitest";
import { gatherPicked } from "./gather.ts";

const picked = (...paths: string[]) => paths.map((path) => ({ name: path.split("/").at(-1), webkitRelativePath: path.includes("/") ? path : "" })) as unknown as FileList;

test("files of a chosen folder keep their paths, and what nobody means to upload is left out and counted", () => {
  const { given, skipped } = gatherPicked(picked("a.txt", "app/src/main.ts", "app/.git/HEAD", "app/node_modules/x/index.js", "app/.gitignore", "app/.DS_Store"));
  expect(given.map(({ path }) => path)).toEqual(["a.txt", "app/src/main.ts", "app/.gitignore"]);
  expect(skipped).toBe(3);
});

test("no more than a thousand are taken at once, and the rest is counted", () => {
  const { given, skipped } = gatherPicked(picked(...Array.from({ length: 1003 }, (_, index) => `f${index}`)));
  expect([given.length, skipped]).toEqual([1000, 3]);
});
