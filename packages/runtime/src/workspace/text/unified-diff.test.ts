import { applyPatch, parsePatch } from "diff";
import { describe, expect, test } from "vitest";
import { createRandom } from "../../../../../tests/kit/random.ts";
import { getRepeatCount } from "../../../../../tests/kit/sample.ts";
import { splitLines } from "./lines.ts";
import { editText, createHardPairs, createText } from "./texts.fixture.ts";
import { createUnifiedDiff } from "./unified-diff.ts";

test("another implementation can apply the diff", () => {
  const random = createRandom("diffs");
  for (let round = 0; round < getRepeatCount("random texts", { sample: 500, full: 2_000 }); round += 1) {
    const before = createText(random, 40);
    const after = editText(random, before);
    const { diff, added, removed } = createUnifiedDiff("src/a.ts", before, after);
    if (before === after) {
      expect(diff).toBe("");
      continue;
    }
    expect(applyPatch(before, diff, { autoConvertLineEndings: false })).toBe(after);
    const signs = parsePatch(diff)[0]?.hunks.flatMap((hunk) => hunk.lines.map((line) => line[0])) ?? [];
    expect(signs.filter((sign) => sign === "+")).toHaveLength(added);
    expect(signs.filter((sign) => sign === "-")).toHaveLength(removed);
  }
});

describe("the diff is formatted like git's", () => {
  const before = Array.from({ length: 12 }, (_, index) => `line ${index + 1}\n`).join("");

  test("with three lines of context", () => {
    expect(createUnifiedDiff("notes.md", before, before.replace("line 6\n", "six\n"))).toEqual({
      diff:
        "diff --git a/notes.md b/notes.md\n--- a/notes.md\n+++ b/notes.md\n@@ -3,7 +3,7 @@\n" +
        " line 3\n line 4\n line 5\n-line 6\n+six\n line 7\n line 8\n line 9\n",
      added: 1,
      removed: 1,
    });
  });

  test("distant edits are separate hunks", () => {
    const { diff } = createUnifiedDiff(
      "a",
      before,
      before.replace("line 1\n", "one\n").replace("line 12\n", "twelve\n"),
    );
    expect(diff.match(/^@@.*$/gm)).toEqual(["@@ -1,4 +1,4 @@", "@@ -9,4 +9,4 @@"]);
  });

  test("a new file, a deleted file, an empty file", () => {
    expect(createUnifiedDiff("a", undefined, "x\n").diff).toBe(
      "diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n",
    );
    expect(createUnifiedDiff("a", "x\n", undefined).diff).toBe(
      "diff --git a/a b/a\ndeleted file mode 100644\n--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n",
    );
    expect(createUnifiedDiff("a", undefined, "")).toEqual({
      diff: "diff --git a/a b/a\nnew file mode 100644\n",
      added: 0,
      removed: 0,
    });
  });

  test("a last line without a newline", () => {
    expect(createUnifiedDiff("a", "x", "x\n").diff).toContain("@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n");
  });

  test("names with spaces and quotes", () => {
    expect(createUnifiedDiff("my file", "a\n", "b\n").diff).toContain("--- a/my file\t\n+++ b/my file\t\n");
    expect(createUnifiedDiff('a"b', "a\n", "b\n").diff).toContain('--- "a/a\\"b"\n');
  });
});

test("a long diff is truncated and says how many lines are missing", () => {
  const long = "a line\n".repeat(1_000);
  const { diff, added, truncated } = createUnifiedDiff("a", undefined, long, 1_000);
  expect(truncated).toBe(true);
  expect(added).toBe(1_000);
  expect(diff.length).toBeLessThan(1_100);
  const shown = diff.match(/^\+a line$/gm)?.length ?? 0;
  expect(diff.endsWith(`\n\\ ${1_000 - shown} more lines not shown\n`)).toBe(true);
});

describe.each([49_000, 400_000])("diffs between texts of %d lines", (count) => {
  test.each(Object.entries(createHardPairs(count)))("%s", (_, [before, after]) => {
    const { diff, added, removed } = createUnifiedDiff("a", before, after);
    expect(diff.length).toBeLessThan(201_000);
    expect(added - removed).toBe(splitLines(after).length - splitLines(before).length);
  });
});
