import type { DiffLine } from "../../chat/call/diff-table.tsx";

const hunkPattern = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** Parses a unified diff. File headers before the first hunk are ignored. */
export function parseDiff(diff: string): DiffLine[] {
  const lines: DiffLine[] = [];
  let before = 0;
  let after = 0;
  for (const line of diff.replace(/\n$/, "").split("\n")) {
    const hunk = hunkPattern.exec(line);
    if (hunk) {
      before = Number(hunk[1]);
      after = Number(hunk[2]);
      lines.push({ kind: "hunk", text: line });
    } else if (lines.length > 0) lines.push(parseLine(line));
  }
  return lines;

  function parseLine(line: string): DiffLine {
    const text = line.slice(1);
    if (line.startsWith("+")) return { kind: "added", text, after: after++ };
    if (line.startsWith("-")) return { kind: "removed", text, before: before++ };
    if (line.startsWith("\\")) return { kind: "remark", text: text.trim() };
    return { kind: "same", text, before: before++, after: after++ };
  }
}
