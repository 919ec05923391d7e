import { truncateText } from "./lines.ts";

/** Some lines of a text, with their numbers. */
const maxShownLines = 12;
const maxLineChars = 200;

/** Lines as tools show them: the number, a tab, the line. */
export function numberLines(lines: readonly string[], from: number, to: number): string {
  return lines
    .slice(from, to)
    .map(
      (line, index) =>
        `${from + index + 1}\t${line.length > maxLineChars ? `${truncateText(line, maxLineChars)}…` : line}`,
    )
    .join("\n");
}

/** Those lines of a text that a piece was most likely meant to be, with their numbers; nothing where none is like it. */
export function findNearestLines(text: readonly string[], piece: readonly string[]): string | undefined {
  const line = findMostShared(text, piece) ?? findMostAlike(text, piece);
  if (line === undefined) return undefined;
  const from = Math.max(0, line - 1);
  return numberLines(text, from, Math.min(text.length, from + Math.min(maxShownLines, piece.length + 2)));
}

/** Where most lines of the piece stand as they would have to stand there, long ones counting more. */
function findMostShared(text: readonly string[], piece: readonly string[]): number | undefined {
  const own = new Map<string, number[]>();
  for (const [index, line] of piece.entries()) {
    const bare = line.trim();
    if (bare.length < 3) continue;
    const known = own.get(bare);
    if (!known) own.set(bare, [index]);
    else if (known.length < 5) known.push(index);
  }
  const votes = new Map<number, number>();
  let best: number | undefined;
  for (const [index, line] of text.entries()) {
    const bare = line.trim();
    for (const place of own.get(bare) ?? []) {
      const start = Math.max(0, index - place);
      const count = (votes.get(start) ?? 0) + Math.min(bare.length, 80);
      votes.set(start, count);
      if (best === undefined || count > (votes.get(best) as number)) best = start;
    }
  }
  return best;
}

/** The line that has most in common with the longest line of the piece, by groups of three characters. */
function findMostAlike(text: readonly string[], piece: readonly string[]): number | undefined {
  let longest = 0;
  for (const [index, line] of piece.entries())
    if (line.trim().length > (piece[longest] as string).trim().length) longest = index;
  const wanted = collectTrigrams((piece[longest] as string | undefined) ?? "");
  if (wanted.size < 2) return undefined;
  // Most groups of most lines are not wanted: a small table says so faster than the set does.
  const maybe = new Uint8Array(4096);
  for (const group of wanted) maybe[group & 4095] = 1;
  let best: number | undefined;
  let bestScore = 0.4;
  for (const [index, line] of text.entries()) {
    const score = computeSimilarity(line, wanted, maybe);
    if (score > bestScore) [best, bestScore] = [index, score];
  }
  return best === undefined ? undefined : Math.max(0, best - longest);
}

function computeSimilarity(line: string, wanted: ReadonlySet<number>, maybe: Uint8Array): number {
  const shared = new Set<number>();
  const end = Math.min(line.length, 2 * maxLineChars) - 2;
  let groups = 0;
  for (let at = 0; at < end; at += 1) {
    const group = hashTrigram(line, at);
    if (line.charCodeAt(at) > 32) groups += 1;
    if (maybe[group & 4095] && wanted.has(group)) shared.add(group);
  }
  return (2 * shared.size) / (wanted.size + Math.max(groups, shared.size));
}

function collectTrigrams(line: string): Set<number> {
  const bare = truncateText(line.trim(), 2 * maxLineChars);
  const groups = new Set<number>();
  for (let at = 0; at + 2 < bare.length; at += 1) groups.add(hashTrigram(bare, at));
  return groups;
}

function hashTrigram(line: string, at: number): number {
  return (Math.imul(line.charCodeAt(at), 961) + Math.imul(line.charCodeAt(at + 1), 31) + line.charCodeAt(at + 2)) | 0;
}
