import type { Change } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { summarizeVersion, getAuthorName } from "./version-text.ts";

const change = (path: string, kind: Change["kind"] = "edit", from?: string): Change => ({
  path,
  kind,
  ...(from ? { from } : {}),
});

test("a version is summarized in one line, with the full path if there is only one file", () => {
  expect(summarizeVersion({ changes: [change("src/a.ts")] })).toBe("edited src/a.ts");
  expect(summarizeVersion({ changes: [change("b.md", "move", "a.md")] })).toBe("moved a.md to b.md");
  expect(summarizeVersion({ changes: [change("src/a.ts", "add"), change("src/b.ts", "add")] })).toBe(
    "added a.ts and b.ts",
  );
  expect(summarizeVersion({ changes: [change("a"), change("b", "delete"), change("c")], more: 10 })).toBe(
    "changed a and 12 more",
  );
  expect(summarizeVersion({ changes: [] })).toBe("made no changes");
});

test("reverts and merges are described as such", () => {
  expect(summarizeVersion({ changes: [change("a")], reverts: [4] })).toBe("reverted version 4");
  expect(summarizeVersion({ changes: [change("a")], reverts: [4, 5] })).toBe("reverted 2 versions");
  expect(summarizeVersion({ changes: [change("a")], merges: "draft" })).toBe("merged branch draft");
});

test("authors are called by name, and the reader is “you”", () => {
  expect(getAuthorName({ kind: "user", user: "ann" }, "ann", "alice")).toBe("you");
  expect(getAuthorName({ kind: "user", user: "ben" }, "ann", "alice")).toBe("ben");
  expect(getAuthorName({ kind: "agent" }, "ann", "alice")).toBe("alice");
  expect(getAuthorName({ kind: "agent", agent: "global~bob" }, "ann", "alice")).toBe("bob");
});
