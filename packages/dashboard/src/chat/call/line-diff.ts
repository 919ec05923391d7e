import { formatCount } from "../../parts/amount.ts";
import type { DiffLine } from "./diff-table.tsx";

/** Unchanged lines kept around a change; longer sections are folded. */
const contextLines = 3;
/** Above this many comparisons the differing section is shown as removed and added as a whole. */
const maxComparisons = 250_000;

/** Compares two texts line by line. There are no line numbers, because the texts are parts of a file. */
export function diffTexts(before: string, after: string): DiffLine[] {
  if (before === after) return [{ kind: "remark", text: "No changes" }];
  const a = splitLines(before);
  const b = splitLines(after);
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const changed = diffSection(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  if (changed.length === 0) return [{ kind: "remark", text: "Only the trailing newline differs" }];
  const [above, below] = [a.slice(0, head), a.slice(a.length - tail)];
  return foldUnchanged([...toDiffLines("same", above), ...changed, ...toDiffLines("same", below)]);
}

/** A newline ends a line: "a\n" has one line, "" has none. */
export function splitLines(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** The shortest edit from `a` to `b`, by the longest common subsequence. */
function diffSection(a: readonly string[], b: readonly string[]): DiffLine[] {
  if (a.length * b.length > maxComparisons) return [...toDiffLines("removed", a), ...toDiffLines("added", b)];
  const width = b.length + 1;
  // common[i * width + j]: length of the longest common subsequence of a[i..] and b[j..].
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ kind: "same", text: a[i++] as string });
      j++;
    } else if (i < a.length && (j === b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ kind: "removed", text: a[i++] as string });
    } else lines.push({ kind: "added", text: b[j++] as string });
  }
  return lines;
}

function foldUnchanged(lines: readonly DiffLine[]): DiffLine[] {
  const out: DiffLine[] = [];
  let from = 0;
  while (from < lines.length) {
    let to = from;
    while (to < lines.length && lines[to]?.kind === "same") to++;
    // No context is needed before the first line or after the last.
    const first = from === 0 ? from : from + contextLines;
    const last = to === lines.length ? to : to - contextLines;
    if (last - first > 1) {
      const folded: DiffLine = { kind: "hunk", text: formatCount(last - first, "unchanged line") };
      out.push(...lines.slice(from, first), folded, ...lines.slice(last, to));
    } else out.push(...lines.slice(from, to));
    from = to;
    while (from < lines.length && lines[from]?.kind !== "same") out.push(lines[from++] as DiffLine);
  }
  return out;
}

function toDiffLines(kind: DiffLine["kind"], lines: readonly string[]): DiffLine[] {
  return lines.map((text) => ({ kind, text }));
}
