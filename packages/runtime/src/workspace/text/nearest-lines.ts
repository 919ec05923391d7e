import { truncateText } from "./lines.ts";

const maxShownLines = 12;
const maxLineChars = 200;

/** Formats lines as tools show them: the line number, a tab, the line. */
export function numberLines(lines: readonly string[], from: number, to: number): string {
  return lines
    .slice(from, to)
    .map(
      (line, index) =>
        `${from + index + 1}\t${line.length > maxLineChars ? `${truncateText(line, maxLineChars)}…` : line}`,
    )
    .join("\n");
}

/** Returns the numbered lines most similar to the searched ones, or undefined if none are similar. */
export function findNearestLines(text: readonly string[], searched: readonly string[]): string | undefined {
  const line = findMostShared(text, searched) ?? findMostAlike(text, searched);
  if (line === undefined) return undefined;
  const from = Math.max(0, line - 1);
  return numberLines(text, from, Math.min(text.length, from + Math.min(maxShownLines, searched.length + 2)));
}

/** Finds the position where most searched lines match in place; longer lines count more. */
function findMostShared(text: readonly string[], searched: readonly string[]): number | undefined {
  const indexesByLine = new Map<string, number[]>();
  for (const [index, line] of searched.entries()) {
    const trimmed = line.trim();
    if (trimmed.length < 3) continue;
    const indexes = indexesByLine.get(trimmed);
    if (!indexes) indexesByLine.set(trimmed, [index]);
    else if (indexes.length < 5) indexes.push(index);
  }
  const votes = new Map<number, number>();
  let best: number | undefined;
  for (const [index, line] of text.entries()) {
    const trimmed = line.trim();
    for (const searchedIndex of indexesByLine.get(trimmed) ?? []) {
      const start = Math.max(0, index - searchedIndex);
      const count = (votes.get(start) ?? 0) + Math.min(trimmed.length, 80);
      votes.set(start, count);
      if (best === undefined || count > (votes.get(best) as number)) best = start;
    }
  }
  return best;
}

/** Finds the line most similar to the longest searched line, by trigrams. */
function findMostAlike(text: readonly string[], searched: readonly string[]): number | undefined {
  let lineIndex = 0;
  for (const [index, line] of searched.entries())
    if (line.trim().length > (searched[lineIndex] as string).trim().length) lineIndex = index;
  const trigrams = collectTrigrams((searched[lineIndex] as string | undefined) ?? "");
  if (trigrams.size < 2) return undefined;
  // Most trigrams are not in the set: a small lookup table rules them out faster.
  const lookup = new Uint8Array(4096);
  for (const trigram of trigrams) lookup[trigram & 4095] = 1;
  let best: number | undefined;
  let bestScore = 0.4;
  for (const [index, line] of text.entries()) {
    const score = computeSimilarity(line, trigrams, lookup);
    if (score > bestScore) [best, bestScore] = [index, score];
  }
  return best === undefined ? undefined : Math.max(0, best - lineIndex);
}

function computeSimilarity(line: string, trigrams: ReadonlySet<number>, lookup: Uint8Array): number {
  const shared = new Set<number>();
  const end = Math.min(line.length, 2 * maxLineChars) - 2;
  let count = 0;
  for (let at = 0; at < end; at += 1) {
    const trigram = hashTrigram(line, at);
    if (line.charCodeAt(at) > 32) count += 1;
    if (lookup[trigram & 4095] && trigrams.has(trigram)) shared.add(trigram);
  }
  return (2 * shared.size) / (trigrams.size + Math.max(count, shared.size));
}

function collectTrigrams(line: string): Set<number> {
  const trimmed = truncateText(line.trim(), 2 * maxLineChars);
  const trigrams = new Set<number>();
  for (let at = 0; at + 2 < trimmed.length; at += 1) trigrams.add(hashTrigram(trimmed, at));
  return trigrams;
}

function hashTrigram(line: string, at: number): number {
  return (Math.imul(line.charCodeAt(at), 961) + Math.imul(line.charCodeAt(at + 1), 31) + line.charCodeAt(at + 2)) | 0;
}
