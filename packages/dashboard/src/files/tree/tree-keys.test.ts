import type { FileInfo } from "@thinkery/sdk";
import type { KeyboardEvent } from "react";
import { expect, test } from "vitest";
import { rowsOf, treeOf } from "./rows.ts";
import { moveAmongRows } from "./tree-keys.ts";

const file = (path: string): FileInfo => ({ path, kind: "text", size: 1, mediaType: "text/plain", hash: "h", version: 1, modifiedAt: "" });

/** Presses keys one after the other, in a tree whose folders open and close. */
function pressed(start: string, keys: string[]): { at: string; open: string[]; left: string[] } {
  const tree = treeOf(["docs/a.md", "docs/b.md", "src/in/deep.ts", "src/main.ts", "zoo.txt"].map(file));
  const open = new Set(["docs"]);
  const left: string[] = [];
  let at = start;
  for (const key of keys) {
    const event = { key, preventDefault: () => left.pop() } as unknown as KeyboardEvent<HTMLElement>;
    left.push(key);
    moveAmongRows(event, rowsOf(tree, (path) => open.has(path)), at, {
      focus: (path) => void (at = path),
      fold: (path, wanted) => void (wanted ? open.add(path) : open.delete(path)),
    });
  }
  return { at, open: [...open].sort(), left };
}

test("arrows go along the lines, into folders and out of them", () => {
  expect(pressed("docs", ["ArrowDown", "ArrowDown", "ArrowDown"])).toMatchObject({ at: "src" });
  expect(pressed("src", ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"])).toMatchObject({ at: "src/in/deep.ts", open: ["docs", "src", "src/in"] });
  expect(pressed("docs/b.md", ["ArrowLeft", "ArrowLeft"])).toMatchObject({ at: "docs", open: [] });
  expect(pressed("docs/b.md", ["End", "ArrowDown"])).toMatchObject({ at: "zoo.txt" });
  expect(pressed("zoo.txt", ["Home", "ArrowUp"])).toMatchObject({ at: "docs" });
});

test("a letter leads to the next name that begins with it; other keys are left to the browser", () => {
  expect(pressed("docs", ["b"])).toMatchObject({ at: "docs/b.md" });
  expect(pressed("zoo.txt", ["D"])).toMatchObject({ at: "docs" });
  expect(pressed("docs", ["Tab", "Enter", "Escape"])).toMatchObject({ at: "docs", left: ["Tab", "Enter", "Escape"] });
});
