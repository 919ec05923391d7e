import { truncateText, countCommonHead, countCommonTail, countLineEnds } from "./lines.ts";
import { type Block, diffSequences } from "./sequence.ts";

export interface TextMergeInput {
  base: string;
  mine: string;
  theirs: string;
  /** Names of both sides in the conflict markers. */
  names: { mine: string; theirs: string };
}

export interface MergedText {
  text: string;
  overlaps: TextOverlap[];
}

export interface TextOverlap {
  /** Line number of the first marker, starting at 1. */
  line: number;
  /** The lines of each side, possibly truncated. */
  mine: string;
  theirs: string;
}

/** Lines with which one side replaces a range of the base. */
interface Change extends Block {
  lines: readonly string[];
}

/** A range of the base that one or both sides changed. */
interface ChangedRange {
  from: number;
  to: number;
  mine: Change[];
  theirs: Change[];
}

const maxShownChars = 2_000;
const maxLines = 50_000;

/** Three-way merge by lines. Where both sides changed the same lines, both are kept between conflict markers. */
export function mergeText({ base, mine, theirs, names }: TextMergeInput): MergedText {
  if (mine === base || mine === theirs) return { text: theirs, overlaps: [] };
  if (theirs === base) return { text: mine, overlaps: [] };

  // Changing line endings, or the newline at the end of the file, does not count as changing lines.
  const lineEnd = resolveLineEnd(base, mine, theirs);
  const lastEnds = resolveThreeWay(hasFinalLineEnd(base), hasFinalLineEnd(mine), hasFinalLineEnd(theirs), true);
  const [start, end] = findCommonEnds(base, mine, theirs);
  const split = createLineSplitter(start, end, lineEnd, [base, mine, theirs]);
  const baseLines = split(base);
  const above = countLineEnds(base, start);

  const out: string[] = [];
  const overlaps: TextOverlap[] = [];
  let done = 0;
  for (const range of groupChanges(computeChanges(baseLines, split(mine)), computeChanges(baseLines, split(theirs)))) {
    append(out, baseLines, done, range.from);
    done = range.to;
    const ours = getSideLines(range, range.mine);
    const other = getSideLines(range, range.theirs);
    if (!ours || !other) {
      append(out, ours ?? other ?? []);
      continue;
    }
    const [head, tail] = countCommonLines(ours, other);
    append(out, ours, 0, head);
    const left = ours.slice(head, ours.length - tail);
    const right = other.slice(head, other.length - tail);
    if (isBaseText(left, baseLines, range)) append(out, right);
    else if (isBaseText(right, baseLines, range)) append(out, left);
    else if (left.length > 0 || right.length > 0) {
      overlaps.push({ line: above + out.length + 1, mine: truncateLines(left), theirs: truncateLines(right) });
      out.push(formatMarker("<<<<<<<", names.mine));
      append(out, left);
      out.push(formatMarker("=======", ""));
      append(out, right);
      out.push(formatMarker(">>>>>>>", names.theirs));
    }
    append(out, ours, ours.length - tail);
  }
  append(out, baseLines, done);
  const text =
    base.slice(0, start) + joinLines(out, lineEnd ?? "\n", end > 0 || lastEnds) + base.slice(base.length - end);
  return { text, overlaps };
}

function computeChanges(base: readonly string[], lines: readonly string[]): Change[] {
  return diffSequences(base, lines).map((block) => ({ ...block, lines }));
}

/** Orders the changes of both sides, grouping those that touch the same lines or the same gap. */
function groupChanges(mine: readonly Change[], theirs: readonly Change[]): ChangedRange[] {
  const out: ChangedRange[] = [];
  let m = 0;
  let t = 0;
  while (m < mine.length || t < theirs.length) {
    const ours = mine[m];
    const other = theirs[t];
    const isMine = ours !== undefined && (other === undefined || comesFirst(ours, other));
    const change = (isMine ? ours : other) as Change;
    if (isMine) m += 1;
    else t += 1;
    let range = out.at(-1);
    if (range && (isOverlapping(range, change) || isSameInsertion(range[isMine ? "theirs" : "mine"].at(-1), change)))
      range.to = Math.max(range.to, change.to);
    else out.push((range = { from: change.from, to: change.to, mine: [], theirs: [] }));
    range[isMine ? "mine" : "theirs"].push(change);
  }
  return out;
}

function comesFirst(a: Block, b: Block): boolean {
  return a.from < b.from || (a.from === b.from && a.to <= b.to);
}

/** `change` starts no earlier than `range`. Adjacent lines do not overlap; two insertions into one gap do. */
function isOverlapping(range: ChangedRange, change: Change): boolean {
  if (change.from < range.to) return change.from > range.from || change.to > change.from;
  return range.from === range.to && change.from === change.to && change.from === range.from;
}

/** Whether both sides inserted the same lines and one also changed the adjacent line. */
function isSameInsertion(before: Change | undefined, change: Change): boolean {
  if (before?.to !== change.from) return false;
  if (change.from === change.to)
    return (
      getLength(before) >= getLength(change) &&
      hasSameLines(before, before.newTo - getLength(change), change, getLength(change))
    );
  return (
    before.from === before.to &&
    getLength(change) >= getLength(before) &&
    hasSameLines(before, before.newFrom, change, getLength(before))
  );
}

function getLength(change: Change): number {
  return change.newTo - change.newFrom;
}

function hasSameLines(a: Change, from: number, b: Change, count: number): boolean {
  for (let index = 0; index < count; index += 1) if (a.lines[from + index] !== b.lines[b.newFrom + index]) return false;
  return true;
}

/** Returns one side's lines for a range of the base, or undefined if it changed nothing there. */
function getSideLines(range: ChangedRange, changes: readonly Change[]): string[] | undefined {
  const first = changes[0];
  const last = changes.at(-1);
  if (!first || !last) return undefined;
  return first.lines.slice(first.newFrom - (first.from - range.from), last.newTo + (range.to - last.to));
}

function isBaseText(lines: readonly string[], base: readonly string[], range: ChangedRange): boolean {
  return lines.length === range.to - range.from && lines.every((line, index) => line === base[range.from + index]);
}

function countCommonLines(a: readonly string[], b: readonly string[]): [head: number, tail: number] {
  const maxLength = Math.min(a.length, b.length);
  let head = 0;
  while (head < maxLength && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < maxLength - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail += 1;
  return [head, tail];
}

function formatMarker(sign: string, name: string): string {
  return name === "" ? sign : `${sign} ${name.replace(/\s+/g, " ")}`;
}

/** Returns the lengths of the common prefix and suffix of all three texts, in whole lines. */
function findCommonEnds(base: string, mine: string, theirs: string): [start: number, end: number] {
  const head = Math.min(countCommonHead(base, mine), countCommonHead(base, theirs));
  const start = head === 0 ? 0 : base.lastIndexOf("\n", head - 1) + 1;
  const tail = Math.min(countCommonTail(base, mine, start), countCommonTail(base, theirs, start));
  const lineEnd = base.indexOf("\n", base.length - tail);
  return [start, lineEnd < 0 ? 0 : base.length - lineEnd - 1];
}

/** Splits the differing part into lines without line endings. Too many lines to compare are treated as one. */
function createLineSplitter(
  start: number,
  end: number,
  lineEnd: string | undefined,
  texts: readonly string[],
): (text: string) => string[] {
  const middle = (text: string) => text.slice(start, text.length - end);
  const tooMany = texts.some((text) => countLineEnds(middle(text)) > maxLines);
  return (text) => {
    let rest = middle(text);
    if (rest === "") return [];
    if (lineEnd !== undefined && rest.includes("\r\n")) rest = rest.replaceAll("\r\n", "\n");
    if (rest.endsWith("\n")) rest = rest.slice(0, -1);
    if (!tooMany) return rest.split("\n");
    return [lineEnd === "\r\n" ? rest.replaceAll("\n", "\r\n") : rest];
  };
}

function joinLines(lines: readonly string[], lineEnd: string, lastEnds: boolean): string {
  return lines.length === 0 ? "" : lines.join(lineEnd) + (lastEnds ? lineEnd : "");
}

/** Returns the line ending of the merged text, or undefined if endings are mixed, so that each line keeps its own. */
function resolveLineEnd(base: string, mine: string, theirs: string): string | undefined {
  const ends = [base, mine, theirs].map(detectLineEnd);
  if (ends.includes("mixed")) return undefined;
  return resolveThreeWay(...(ends as [string, string, string]), "\n");
}

function detectLineEnd(text: string): "\n" | "\r\n" | "mixed" | undefined {
  let all = 0;
  let returns = 0;
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) !== 10) continue;
    all += 1;
    if (text.charCodeAt(at - 1) === 13) returns += 1;
  }
  if (all === 0) return undefined;
  return returns === 0 ? "\n" : returns === all ? "\r\n" : "mixed";
}

function hasFinalLineEnd(text: string): boolean | undefined {
  return text === "" ? undefined : text.endsWith("\n");
}

/** Returns the changed value, or `fallback` if both sides changed it. Undefined counts as unchanged. */
function resolveThreeWay<T>(base: T | undefined, mine: T | undefined, theirs: T | undefined, fallback: T): T {
  const ours = mine ?? base;
  const other = theirs ?? base;
  if (ours === other || other === base) return ours ?? fallback;
  return ours === base ? (other ?? fallback) : fallback;
}

function truncateLines(lines: readonly string[]): string {
  return truncateText(lines.join("\n"), maxShownChars);
}

/** Not `push(...lines)`, which overflows the stack for many lines. */
function append(out: string[], lines: readonly string[], from = 0, to = lines.length): void {
  for (let index = from; index < to; index += 1) out.push(lines[index] as string);
}
