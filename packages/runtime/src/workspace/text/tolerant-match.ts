/** Lines of a text that are those of a piece but for their white space. */
export interface TolerantMatch {
  /** The first of them, from 0. */
  line: number;
  /** The same lines as they should be written there. */
  fitted(lines: readonly string[]): string[];
}

interface Indent {
  /** How many columns a tab stands for. */
  tab: number;
  /** How many columns further in the text is than the piece. */
  shift: number;
  usesTabs: boolean;
}

const tabWidths = [4, 2, 8, 3];
// Lines that repeat without end are compared without end otherwise.
const maxComparisons = 500_000;
const maxPlaces = 20;

/**
 * Where the lines of a piece stand in a text when white space at their ends does not count, or else when they may all
 * be indented more, less, or with tabs in place of spaces.
 */
export function findTolerantMatches(text: readonly string[], piece: readonly string[]): TolerantMatch[] {
  if (piece.length > text.length || piece.every((line) => line.trim() === "")) return [];
  const ended = findRuns(text, piece, (line) => line.trimEnd());
  if (ended.length > 0) return ended.map((line) => ({ line, fitted: (lines) => [...lines] }));
  const places = findRuns(text, piece, (line) => line.trim());
  if (places.length > maxPlaces) return [];
  return places.flatMap((line) => {
    const indent = detectIndent(text.slice(line, line + piece.length), piece);
    return indent ? [{ line, fitted: (lines: readonly string[]) => lines.map((own) => applyIndent(own, indent)) }] : [];
  });
}

/** Where the piece stands in the text, as far as `bare` leaves of their lines; by number, which is quicker to compare. */
function findRuns(text: readonly string[], piece: readonly string[], bare: (line: string) => string): number[] {
  const numbers = new Map(piece.map((line, index) => [bare(line), index]));
  const wanted = piece.map((line) => numbers.get(bare(line)) as number);
  const given = text.map((line) => numbers.get(bare(line)) ?? -1);
  const places: number[] = [];
  let left = maxComparisons;
  for (let line = 0; line + wanted.length <= given.length && left > 0; line += 1) {
    let same = 0;
    while (same < wanted.length && given[line + same] === wanted[same]) same += 1;
    left -= same;
    if (same === wanted.length) places.push(line);
  }
  return places;
}

/** How the indentation of the one follows from that of the other, the same way in all lines; nothing where it does not. */
function detectIndent(text: readonly string[], piece: readonly string[]): Indent | undefined {
  const usesTabs = text.some((line) => line.startsWith("\t"));
  const found: Indent[] = [];
  for (const tab of tabWidths) {
    const shifts = new Set(
      piece.flatMap((line, index) =>
        line.trim() === "" ? [] : [countColumns(text[index] as string, tab) - countColumns(line, tab)],
      ),
    );
    if (shifts.size === 1) found.push({ tab, shift: [...shifts][0] as number, usesTabs });
  }
  return found.find(({ shift }) => shift === 0) ?? found[0];
}

function countColumns(line: string, tab: number): number {
  let count = 0;
  for (const character of getIndentation(line)) count += character === "\t" ? tab : 1;
  return count;
}

function applyIndent(line: string, { tab, shift, usesTabs }: Indent): string {
  if (line.trim() === "") return line;
  const width = Math.max(0, countColumns(line, tab) + shift);
  const indent = usesTabs ? "\t".repeat(Math.floor(width / tab)) + " ".repeat(width % tab) : " ".repeat(width);
  return indent + line.slice(getIndentation(line).length);
}

function getIndentation(line: string): string {
  return /^[\t ]*/.exec(line)?.[0] ?? "";
}
