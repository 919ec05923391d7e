import { expect, test } from "vitest";
import type { ForkMerge } from "../protocol/version.ts";
import { describeForkMerge } from "./fork-merge.ts";

const describeMerge = (merge: Partial<ForkMerge>) =>
  describeForkMerge({ branch: "fork", into: "main", isMerged: true, changes: [], overlaps: [], ...merge });
const createChanges = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ path: `${index}.ts`, kind: "edit" as const }));

test("names the files of a merge, the first ones only", () => {
  expect(describeMerge({})).toBe("It changed no files.");
  expect(describeMerge({ version: 4, changes: createChanges(1) })).toBe(
    "Its branch was merged as version 4. 1 file changed: 0.ts.",
  );
  expect(describeMerge({ changes: createChanges(12), more: 3 })).toMatch(
    /^Its branch was merged\. 15 files changed: 0\.ts, .*, 9\.ts, 5 more\.$/,
  );
});

test("says where both sides changed the same place", () => {
  const overlaps = [
    { path: "a.ts", line: 3, reason: "Both are kept." },
    { path: "b.png", reason: "A copy is kept." },
  ];
  expect(describeMerge({ changes: createChanges(1), overlaps, moreOverlaps: 2 })).toBe(
    [
      "Its branch was merged. 1 file changed: 0.ts.",
      "Both sides had changed the same places. Both changes are kept, so look at them:",
      "- a.ts, line 3: Both are kept.",
      "- b.png: A copy is kept.",
      "- and 2 more",
    ].join("\n"),
  );
  expect(describeMerge({ overlaps })).toContain("No file changed.");
});

test("names the branch that was not merged, with the end of the check's output", () => {
  const check = { command: "npm test", exitCode: 1, output: `${"x".repeat(5000)}\nlast\n` };
  const text = describeMerge({ isMerged: false, reason: "the check “npm test” failed (exit code 1).", check });
  expect(text).toMatch(
    /^The work is on branch “fork”\. It was not merged: the check “npm test” failed \(exit code 1\)\.\nx+\nlast$/,
  );
  expect(text.length).toBeLessThan(2200);
});
