import type { FileInfo } from "@thinkery/sdk";
import type { KeyboardEvent } from "react";
import { expect, test } from "vitest";
import { listRows, buildTree } from "./rows.ts";
import { moveAmongRows } from "./tree-keys.ts";

const file = (path: string): FileInfo => ({
  path,
  kind: "text",
  size: 1,
  mediaType: "text/plain",
  hash: "h",
  version: 1,
  modifiedAt: "",
});

/** Presses keys in a tree whose folders can be expanded; `unhandled` are the keys left to the browser. */
function pressKeys(start: string, keys: string[]): { at: string; open: string[]; unhandled: string[] } {
  const tree = buildTree(["docs/a.md", "docs/b.md", "src/in/deep.ts", "src/main.ts", "zoo.txt"].map(file));
  const open = new Set(["docs"]);
  const unhandled: string[] = [];
  let at = start;
  for (const key of keys) {
    const event = { key, preventDefault: () => unhandled.pop() } as unknown as KeyboardEvent<HTMLElement>;
    unhandled.push(key);
    moveAmongRows(
      event,
      listRows(tree, (path) => open.has(path)),
      at,
      {
        focus: (path) => void (at = path),
        fold: (path, expanded) => void (expanded ? open.add(path) : open.delete(path)),
      },
    );
  }
  return { at, open: [...open].sort(), unhandled };
}

test("arrow keys move between rows, into folders and out of them", () => {
  expect(pressKeys("docs", ["ArrowDown", "ArrowDown", "ArrowDown"])).toMatchObject({ at: "src" });
  expect(pressKeys("src", ["ArrowRight", "ArrowRight", "ArrowRight", "ArrowRight"])).toMatchObject({
    at: "src/in/deep.ts",
    open: ["docs", "src", "src/in"],
  });
  expect(pressKeys("docs/b.md", ["ArrowLeft", "ArrowLeft"])).toMatchObject({ at: "docs", open: [] });
  expect(pressKeys("docs/b.md", ["End", "ArrowDown"])).toMatchObject({ at: "zoo.txt" });
  expect(pressKeys("zoo.txt", ["Home", "ArrowUp"])).toMatchObject({ at: "docs" });
});

test("a letter moves to the next name that begins with it; other keys are left to the browser", () => {
  expect(pressKeys("docs", ["b"])).toMatchObject({ at: "docs/b.md" });
  expect(pressKeys("zoo.txt", ["D"])).toMatchObject({ at: "docs" });
  expect(pressKeys("docs", ["Tab", "Enter", "Escape"])).toMatchObject({
    at: "docs",
    unhandled: ["Tab", "Enter", "Escape"],
  });
});
