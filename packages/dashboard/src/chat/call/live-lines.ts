/** What is shown of a text that grows at its end and is cut at its beginning. */
export interface LiveLines {
  text: string;
  /** The number of its first line, counted from when it was first seen: a line keeps its number for as long as it is there. */
  first: number;
}

export const noLines: LiveLines = { text: "", first: 0 };

/** Enough of the beginning to find it again in what was there before. */
const overlapChars = 400;

export function updateLines(before: LiveLines, text: string): LiveLines {
  // A line that is finished does not change any more; the last one may grow or be drawn anew.
  if (text.startsWith(takeFinishedLines(before.text))) return { text, first: before.first };
  const at = before.text.indexOf(takeFinishedLines(text).slice(0, overlapChars) || text);
  return { text, first: before.first + countLineEnds(at < 0 ? `${before.text}\n` : before.text.slice(0, at)) };
}

function takeFinishedLines(text: string): string {
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

function countLineEnds(text: string): number {
  return text.split("\n").length - 1;
}

/** The last lines with their numbers; an empty one at the very end is none. */
export function takeLastLines({ text, first }: LiveLines, most: number): { number: number; line: string }[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  const from = Math.max(0, lines.length - most);
  return lines.slice(from).map((line, index) => ({ number: first + from + index, line }));
}
