/**
 * Maps columns of the executed text to columns of the source, by line from 1, in order. Columns count from 0. Lines never
 * move, so columns are all that differs.
 */
export type ColumnMap = Record<number, [run: number, source: number][]>;

/** Returns the source column of a column in the executed text. */
export function toSourceColumn(columnMap: ColumnMap, line: number, column: number): number {
  const mapping = columnMap[line]?.findLast(([run]) => run <= column);
  return mapping ? mapping[1] + column - mapping[0] : column;
}

/** A replacement within lines. If it is as long as what it replaces, no column moves. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

export function applyEdits(source: string, edits: readonly Edit[]): string {
  let text = "";
  let from = 0;
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    text += source.slice(from, edit.start) + edit.text;
    from = edit.end;
  }
  return text + source.slice(from);
}

/** Replaces a range with blanks. Starts with `;` because the replaced statement ended the one before it. */
export function createBlank(source: string, start: number, end: number, first = ";"): Edit {
  return { start, end, text: first + source.slice(start + first.length, end).replace(/[^\n]/g, " ") };
}

/** Returns a name, as long as its stem, that does not occur in a text, not even in escapes. */
export function findUnusedName(source: string, stem: string): string {
  const text = source.replace(/\\u(?:([\da-f]{4})|\{([\da-f]{1,6})\})/gi, (_, short: string, long: string) =>
    String.fromCodePoint(Math.min(Number.parseInt(short ?? long, 16), 0x10ffff)),
  );
  for (let count = 0; ; count++) {
    const name = count === 0 ? stem : stem.slice(0, 2) + count.toString(36).padStart(stem.length - 2, "0");
    if (!text.includes(name)) return name;
  }
}
