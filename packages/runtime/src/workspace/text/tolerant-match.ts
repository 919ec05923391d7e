/** Lines of a text that match the searched lines except for whitespace. */
export interface TolerantMatch {
  /** Index of the first matching line. */
  line: number;
  /** Adapts the indentation of replacement lines to that of the text. */
  reindent(lines: readonly string[]): string[];
}

interface Indent {
  /** Columns per tab. */
  tab: number;
  /** Columns by which the text is indented more than the searched lines. */
  shift: number;
  usesTabs: boolean;
}

const tabWidths = [4, 2, 8, 3];
// Bounds the work for texts with many repeated lines.
const maxComparisons = 500_000;
const maxMatches = 20;

/**
 * Finds lines in a text, ignoring trailing whitespace. If there are none, also matches lines that are all indented more
 * or less, or with tabs instead of spaces.
 */
export function findTolerantMatches(text: readonly string[], searched: readonly string[]): TolerantMatch[] {
  if (searched.length > text.length || searched.every((line) => line.trim() === "")) return [];
  const exact = findRuns(text, searched, (line) => line.trimEnd());
  if (exact.length > 0) return exact.map((line) => ({ line, reindent: (lines) => [...lines] }));
  const candidates = findRuns(text, searched, (line) => line.trim());
  if (candidates.length > maxMatches) return [];
  return candidates.flatMap((line) => {
    const indent = detectIndent(text.slice(line, line + searched.length), searched);
    return indent
      ? [{ line, reindent: (lines: readonly string[]) => lines.map((own) => applyIndent(own, indent)) }]
      : [];
  });
}

/** Finds where all lines match after `normalize`. Lines are compared by number, which is faster. */
function findRuns(text: readonly string[], searched: readonly string[], normalize: (line: string) => string): number[] {
  const numbers = new Map(searched.map((line, index) => [normalize(line), index]));
  const searchedNumbers = searched.map((line) => numbers.get(normalize(line)) as number);
  const textNumbers = text.map((line) => numbers.get(normalize(line)) ?? -1);
  const starts: number[] = [];
  let remaining = maxComparisons;
  for (let line = 0; line + searchedNumbers.length <= textNumbers.length && remaining > 0; line += 1) {
    let same = 0;
    while (same < searchedNumbers.length && textNumbers[line + same] === searchedNumbers[same]) same += 1;
    remaining -= same;
    if (same === searchedNumbers.length) starts.push(line);
  }
  return starts;
}

/** Returns how the indentation differs if it differs the same way in all lines, otherwise undefined. */
function detectIndent(text: readonly string[], searched: readonly string[]): Indent | undefined {
  const usesTabs = text.some((line) => line.startsWith("\t"));
  const found: Indent[] = [];
  for (const tab of tabWidths) {
    const shifts = new Set(
      searched.flatMap((line, index) =>
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
