import type { DiffLine } from "../../chat/call/diff-table.tsx";

const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Reads a unified diff. What it says of the files before its first hunk is told elsewhere. */
export function diffLines(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const begin = hunk.exec(line);
    if (begin) {
      before = Number(begin[1]);
      after = Number(begin[2]);
      lines.push({ kind: "hunk", text: line });
    } else if (lines.length > 0) lines.push(lineOf(line));
  }
  return lines;

  function lineOf(line: string): DiffLine {
    const text = line.slice(1);
    if (line.startsWith("+")) return { kind: "added", text, after: after++ };
    if (line.startsWith("-")) return { kind: "removed", text, before: before++ };
    if (line.startsWith("\\")) return { kind: "remark", text: text.trim() };
    return { kind: "same", text, before: before++, after: after++ };
  }
}
