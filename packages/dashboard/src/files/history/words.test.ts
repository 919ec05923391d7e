import type { Change } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { summaryOf, whoDid } from "./words.ts";

const change = (path: string, kind: Change["kind"] = "edit", from?: string): Change => ({ path, kind, ...(from ? { from } : {}) });

test("a version is told in one line, with the whole path where there is one file only", () => {
  expect(summaryOf({ changes: [change("src/a.ts")] })).toBe("edited src/a.ts");
  expect(summaryOf({ changes: [change("b.md", "move", "a.md")] })).toBe("moved a.md to b.md");
  expect(summaryOf({ changes: [change("src/a.ts", "add"), change("src/b.ts", "add")] })).toBe("added a.ts and b.ts");
  expect(summaryOf({ changes: [change("a"), change("b", "delete"), change("c")], more: 10 })).toBe("changed a and 12 more");
  expect(summaryOf({ changes: [] })).toBe("changed nothing");
});

test("what takes back or merges says so before it says what changed", () => {
  expect(summaryOf({ changes: [change("a")], reverts: [4] })).toBe("took back version 4");
  expect(summaryOf({ changes: [change("a")], reverts: [4, 5] })).toBe("took back 2 versions");
  expect(summaryOf({ changes: [change("a")], merges: "draft" })).toBe("merged the branch draft");
});

test("people are called by their names, and whoever reads is “you”", () => {
  expect(whoDid({ kind: "user", user: "ann" }, "ann", "alice")).toBe("you");
  expect(whoDid({ kind: "user", user: "ben" }, "ann", "alice")).toBe("ben");
  expect(whoDid({ kind: "agent" }, "ann", "alice")).toBe("alice");
  expect(whoDid({ kind: "agent", agent: "global~bob" }, "ann", "alice")).toBe("bob");
});
