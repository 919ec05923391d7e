import { type Block, diffSequences } from "./sequence.ts";

export interface UnifiedDiff {
  diff: string;
  added: number;
  removed: number;
  /** The diff does not show all changed lines. */
  truncated?: true;
}

const contextLines = 3;
const maxDiffChars = 200_000;

/** Creates a diff in git's format. `before` is undefined for a new file, `after` for a deleted one. */
export function createUnifiedDiff(
  path: string,
  before: string | undefined,
  after: string | undefined,
  maxChars = maxDiffChars,
): UnifiedDiff {
  if (before === after) return { diff: "", added: 0, removed: 0 };
  const lines = toPrintedLines(before ?? "");
  const newLines = toPrintedLines(after ?? "");
  const blocks = diffSequences(lines, newLines);
  const out = new BoundedOutput(maxChars);
  out.add(`diff --git ${quotePath(`a/${path}`)} ${quotePath(`b/${path}`)}\n`);
  if (before === undefined) out.add("new file mode 100644\n");
  if (after === undefined) out.add("deleted file mode 100644\n");
  if (blocks.length > 0) {
    out.add(`--- ${before === undefined ? "/dev/null" : formatName(`a/${path}`)}\n`);
    out.add(`+++ ${after === undefined ? "/dev/null" : formatName(`b/${path}`)}\n`);
  }
  for (const hunk of groupHunks(blocks)) addHunk(out, hunk, lines, newLines);

  let added = 0;
  let removed = 0;
  for (const block of blocks) {
    added += block.newTo - block.newFrom;
    removed += block.to - block.from;
  }
  return { diff: out.text(), added, removed, ...(out.droppedLines > 0 ? { truncated: true } : {}) };
}

/** Splits a text into printed lines. Marks a last line without a newline, so it differs from one with a newline. */
function toPrintedLines(text: string): string[] {
  const lines = text.split("\n");
  const last = lines.pop();
  if (last) lines.push(`${last}\n\\ No newline at end of file`);
  return lines;
}

/** Groups blocks whose context lines touch. */
function groupHunks(blocks: readonly Block[]): Block[][] {
  const out: Block[][] = [];
  for (const block of blocks) {
    const last = out.at(-1);
    if (last && block.from - (last.at(-1) as Block).to <= 2 * contextLines) last.push(block);
    else out.push([block]);
  }
  return out;
}

function addHunk(
  out: BoundedOutput,
  hunk: readonly Block[],
  lines: readonly string[],
  newLines: readonly string[],
): void {
  const first = hunk[0] as Block;
  const last = hunk.at(-1) as Block;
  const above = Math.min(contextLines, first.from);
  const below = Math.min(contextLines, lines.length - last.to);
  const old = formatRange(first.from - above, last.to + below);
  out.add(`@@ -${old} +${formatRange(first.newFrom - above, last.newTo + below)} @@\n`);
  let done = first.from - above;
  for (const block of hunk) {
    out.addLines(" ", lines, done, block.from);
    out.addLines("-", lines, block.from, block.to);
    out.addLines("+", newLines, block.newFrom, block.newTo);
    done = block.to;
  }
  out.addLines(" ", lines, done, last.to + below);
}

function formatRange(from: number, to: number): string {
  const count = to - from;
  // An empty range is given by the line before it.
  return count === 1 ? `${from + 1}` : `${count === 0 ? from : from + 1},${count}`;
}

/** A name with a space is followed by a tab; otherwise programs would read part of it as a timestamp. */
function formatName(path: string): string {
  return path.includes(" ") ? `${quotePath(path)}\t` : quotePath(path);
}

function quotePath(path: string): string {
  return path.includes('"') ? `"${path.replaceAll('"', '\\"')}"` : path;
}

/** Collects lines up to a limit and counts those dropped. */
class BoundedOutput {
  droppedLines = 0;
  readonly #parts: string[] = [];
  #remainingChars: number;

  constructor(maxChars: number) {
    this.#remainingChars = maxChars;
  }

  addLines(sign: string, lines: readonly string[], from: number, to: number): void {
    for (let index = from; index < to; index += 1) {
      if (this.droppedLines > 0) {
        this.droppedLines += to - index;
        return;
      }
      this.add(`${sign}${lines[index]}\n`);
    }
  }

  add(text: string): void {
    this.#remainingChars -= text.length;
    if (this.#remainingChars >= 0 && this.droppedLines === 0) this.#parts.push(text);
    else this.droppedLines += 1;
  }

  text(): string {
    const rest = this.droppedLines > 0 ? `\\ ${this.droppedLines} more lines not shown\n` : "";
    return this.#parts.join("") + rest;
  }
}
