import type { Change } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { summarizeVersion, getAuthorName } from "./version-text.ts";

const change = (path: string, kind: Change["kind"] = "edit", from?: string): Change => ({
  path,
  kind,
  ...(from ? { from } : {}),
});

test("a version is told in one line, with the whole path where there is one file only", () => {
  expect(summarizeVersion({ changes: [change("src/a.ts")] })).toBe("edited src/a.ts");
  expect(summarizeVersion({ changes: [change("b.md", "move", "a.md")] })).toBe("moved a.md to b.md");
  expect(summarizeVersion({ changes: [change("src/a.ts", "add"), change("src/b.ts", "add")] })).toBe(
    "added a.ts and b.ts",
  );
  expect(summarizeVersion({ changes: [change("a"), change("b", "delete"), change("c")], more: 10 })).toBe(
    "changed a and 12 more",
  );
  expect(summarizeVersion({ changes: [] })).toBe("changed nothing");
});

test("what takes back or merges says so before it says what changed", () => {
  expect(summarizeVersion({ changes: [change("a")], reverts: [4] })).toBe("took back version 4");
  expect(summarizeVersion({ changes: [change("a")], reverts: [4, 5] })).toBe("took back 2 versions");
  expect(summarizeVersion({ changes: [change("a")], merges: "draft" })).toBe("merged the branch draft");
});

test("people are called by their names, and whoever reads is “you”", () => {
  expect(getAuthorName({ kind: "user", user: "ann" }, "ann", "alice")).toBe("you");
  expect(getAuthorName({ kind: "user", user: "ben" }, "ann", "alice")).toBe("ben");
  expect(getAuthorName({ kind: "agent" }, "ann", "alice")).toBe("alice");
  expect(getAuthorName({ kind: "agent", agent: "global~bob" }, "ann", "alice")).toBe("bob");
});
