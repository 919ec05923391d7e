/** A text that grows at its end and is cut at its beginning. */
export interface LiveLines {
  text: string;
  /** Number of the first line, counted since the text was first seen. A line keeps its number while it exists. */
  first: number;
}

export const noLines: LiveLines = { text: "", first: 0 };

/** Length of the beginning that is searched for in the previous text. */
const overlapChars = 400;

export function updateLines(before: LiveLines, text: string): LiveLines {
  // Complete lines no longer change; the last one may grow or be redrawn.
  if (text.startsWith(takeFinishedLines(before.text))) return { text, first: before.first };
  const overlapStart = before.text.indexOf(takeFinishedLines(text).slice(0, overlapChars) || text);
  return {
    text,
    first: before.first + countLineEnds(overlapStart < 0 ? `${before.text}\n` : before.text.slice(0, overlapStart)),
  };
}

function takeFinishedLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

function countLineEnds(text: string): number {
  return text.split("\n").length - 1;
}

/** Returns at most `max` last lines with their numbers. A trailing newline does not count as a line. */
export function takeLastLines({ text, first }: LiveLines, max: number): { number: number; line: string }[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const from = Math.max(0, lines.length - max);
  return lines.slice(from).map((line, index) => ({ number: first + from + index, line }));
}
