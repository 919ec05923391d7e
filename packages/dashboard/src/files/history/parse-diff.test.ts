import { expect, test } from "vitest";
import { parseDiff } from "./parse-diff.ts";

const diff = `--- a/notes.md
+++ b/notes.md
@@ -3,3 +3,4 @@
 same
--- not a header
+new
+++ nor this
 end
\\ No newline at end of file
@@ -20 +21 @@
-old
+now
`;

test("lines have numbers before and after, and header-like lines within a hunk are content", () => {
  expect(parseDiff(diff)).toEqual([
    { kind: "hunk", text: "@@ -3,3 +3,4 @@" },
    { kind: "same", text: "same", before: 3, after: 3 },
    { kind: "removed", text: "-- not a header", before: 4 },
    { kind: "added", text: "new", after: 4 },
    { kind: "added", text: "++ nor this", after: 5 },
    { kind: "same", text: "end", before: 5, after: 6 },
    { kind: "remark", text: "No newline at end of file" },
    { kind: "hunk", text: "@@ -20 +21 @@" },
    { kind: "removed", text: "old", before: 20 },
    { kind: "added", text: "now", after: 21 },
  ]);
});

test("a diff without a hunk has no lines", () => {
  for (const text of ["", "--- a/x\n+++ b/x\n"]) expect(parseDiff(text)).toEqual([]);
});
