import { type FileInfo, listParentFolders } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { getParentFolder, filterFiles, listRows, buildTree } from "./rows.ts";

const file = (path: string, size = 1): FileInfo => ({
  path,
  kind: "text",
  size,
  mediaType: "text/plain",
  hash: "h",
  version: 1,
  modifiedAt: "2026-01-01T00:00:00Z",
});
const files = [file("b10.md"), file("b9.md"), file("src/util/deep.ts", 5), file("src/a.ts", 3), file("Zoo/x.txt")];
const listPaths = (open: string[]) =>
  listRows(buildTree(files), (path) => open.includes(path)).map(({ path, level }) => `${level} ${path}`);

test("folders come before files, in natural name order, and contents of collapsed folders are omitted", () => {
  expect(listPaths([])).toEqual(["1 src", "1 Zoo", "1 b9.md", "1 b10.md"]);
  expect(listPaths(["src"])).toEqual(["1 src", "2 src/util", "2 src/a.ts", "1 Zoo", "1 b9.md", "1 b10.md"]);
  // An expanded folder in a collapsed one is not visible.
  expect(listPaths(["src/util"])).toEqual(listPaths([]));
});

test("a folder counts its contents at any depth, and a row knows its position among its siblings", () => {
  const [src, util] = listRows(buildTree(files), () => true);
  expect(src).toMatchObject({ count: 2, size: 8, position: 1, siblings: 4 });
  expect(util).toMatchObject({ path: "src/util", count: 1, size: 5, position: 1, siblings: 2 });
});

test("names with a meaning in JavaScript are handled like any other", () => {
  const odd = [file("__proto__/constructor"), file("toString")];
  expect(listRows(buildTree(odd), () => true).map(({ path }) => path)).toEqual([
    "__proto__",
    "__proto__/constructor",
    "toString",
  ]);
});

test("files are found by parts of their path in any order and case", () => {
  expect(filterFiles(files, " TS src ").map(({ path }) => path)).toEqual(["src/util/deep.ts", "src/a.ts"]);
  expect(filterFiles(files, "src deep").map(({ path }) => path)).toEqual(["src/util/deep.ts"]);
  expect(filterFiles(files, "nowhere")).toEqual([]);
});

test("parent folders are derived from the path", () => {
  expect(listParentFolders("src/util/deep.ts")).toEqual(["src", "src/util"]);
  expect(listParentFolders("top.md")).toEqual([]);
  expect([getParentFolder("src/a.ts"), getParentFolder("top.md")]).toEqual(["src", undefined]);
});
