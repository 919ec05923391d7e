import { truncateText, countCommonHead, countCommonTail, countLineEnds } from "./lines.ts";
import { type Block, diffSequences } from "./sequence.ts";

export interface TextMergeInput {
  base: string;
  mine: string;
  theirs: string;
  /** What the two are called at the markers. */
  names: { mine: string; theirs: string };
}

export interface MergedText {
  text: string;
  overlaps: TextOverlap[];
}

export interface TextOverlap {
  /** The line of the first marker, the first line being 1. */
  line: number;
  /** The lines of both, or their beginning. */
  mine: string;
  theirs: string;
}

/** What one side has in place of lines of the base. */
interface Change extends Block {
  lines: readonly string[];
}

/** A stretch of the base that one side changed, or both. */
interface Stretch {
  from: number;
  to: number;
  mine: Change[];
  theirs: Change[];
}

const maxShownChars = 2_000;
const maxLines = 50_000;

/** Two texts that came from one, as one. Where both changed the same lines, both are kept between markers. */
export function mergeText({ base, mine, theirs, names }: TextMergeInput): MergedText {
  if (mine === base || mine === theirs) return { text: theirs, overlaps: [] };
  if (theirs === base) return { text: mine, overlaps: [] };

  // Whoever changes the line ends of a file, or the end of its last line, has touched none of its lines.
  const lineEnd = resolveLineEnd(base, mine, theirs);
  const lastEnds = resolveThreeWay(hasFinalLineEnd(base), hasFinalLineEnd(mine), hasFinalLineEnd(theirs), true);
  const [start, end] = findCommonEnds(base, mine, theirs);
  const split = createLineSplitter(start, end, lineEnd, [base, mine, theirs]);
  const baseLines = split(base);
  const above = countLineEnds(base, start);

  const out: string[] = [];
  const overlaps: TextOverlap[] = [];
  let done = 0;
  for (const stretch of groupStretches(
    computeChanges(baseLines, split(mine)),
    computeChanges(baseLines, split(theirs)),
  )) {
    append(out, baseLines, done, stretch.from);
    done = stretch.to;
    const ours = getSideLines(stretch, stretch.mine);
    const other = getSideLines(stretch, stretch.theirs);
    if (!ours || !other) {
      append(out, ours ?? other ?? []);
      continue;
    }
    const [head, tail] = countCommonLines(ours, other);
    append(out, ours, 0, head);
    const left = ours.slice(head, ours.length - tail);
    const right = other.slice(head, other.length - tail);
    if (isBaseText(left, baseLines, stretch)) append(out, right);
    else if (isBaseText(right, baseLines, stretch)) append(out, left);
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

/** The changes of both in order, those that touch the same lines or the same gap together. */
function groupStretches(mine: readonly Change[], theirs: readonly Change[]): Stretch[] {
  const out: Stretch[] = [];
  let m = 0;
  let t = 0;
  while (m < mine.length || t < theirs.length) {
    const ours = mine[m];
    const other = theirs[t];
    const isMine = ours !== undefined && (other === undefined || comesFirst(ours, other));
    const change = (isMine ? ours : other) as Change;
    if (isMine) m += 1;
    else t += 1;
    let stretch = out.at(-1);
    if (stretch && (isOverlapping(stretch, change) || repeats(stretch[isMine ? "theirs" : "mine"].at(-1), change)))
      stretch.to = Math.max(stretch.to, change.to);
    else out.push((stretch = { from: change.from, to: change.to, mine: [], theirs: [] }));
    stretch[isMine ? "mine" : "theirs"].push(change);
  }
  return out;
}

function comesFirst(a: Block, b: Block): boolean {
  return a.from < b.from || (a.from === b.from && a.to <= b.to);
}

/** `change` begins no earlier than `stretch`. Lines beside each other do not overlap; two insertions into one gap do. */
function isOverlapping(stretch: Stretch, change: Change): boolean {
  if (change.from < stretch.to) return change.from > stretch.from || change.to > change.from;
  return stretch.from === stretch.to && change.from === change.to && change.from === stretch.from;
}

/** Both inserted the same, and one of them changed the line beside it too. */
function repeats(before: Change | undefined, change: Change): boolean {
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

/** What one side has where the stretch is in the base; nothing where it changed nothing there. */
function getSideLines(stretch: Stretch, changes: readonly Change[]): string[] | undefined {
  const first = changes[0];
  const last = changes.at(-1);
  if (!first || !last) return undefined;
  return first.lines.slice(first.newFrom - (first.from - stretch.from), last.newTo + (stretch.to - last.to));
}

function isBaseText(lines: readonly string[], base: readonly string[], stretch: Stretch): boolean {
  return (
    lines.length === stretch.to - stretch.from && lines.every((line, index) => line === base[stretch.from + index])
  );
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

/** How much the three have in common at the beginning and at the end, in whole lines. */
function findCommonEnds(base: string, mine: string, theirs: string): [start: number, end: number] {
  const head = Math.min(countCommonHead(base, mine), countCommonHead(base, theirs));
  const start = head === 0 ? 0 : base.lastIndexOf("\n", head - 1) + 1;
  const tail = Math.min(countCommonTail(base, mine, start), countCommonTail(base, theirs, start));
  const lineEnd = base.indexOf("\n", base.length - tail);
  return [start, lineEnd < 0 ? 0 : base.length - lineEnd - 1];
}

/** The lines without their ends. Where they are too many to be compared in good time, all of them are as one. */
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

/** The line end that the merged text has; nothing where they are mixed, so that each line keeps its own. */
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

/** Whoever changed it has their way, and whoever has none changed nothing. */
function resolveThreeWay<T>(base: T | undefined, mine: T | undefined, theirs: T | undefined, otherwise: T): T {
  const ours = mine ?? base;
  const other = theirs ?? base;
  if (ours === other || other === base) return ours ?? otherwise;
  return ours === base ? (other ?? otherwise) : otherwise;
}

function truncateLines(lines: readonly string[]): string {
  return truncateText(lines.join("\n"), maxShownChars);
}

/** Not `push(...lines)`: that many arguments do not fit on the stack. */
function append(out: string[], lines: readonly string[], from = 0, to = lines.length): void {
  for (let index = from; index < to; index += 1) out.push(lines[index] as string);
}
