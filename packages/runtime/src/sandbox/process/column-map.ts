/** How what is run differs from what was written, within lines: no change ever moves a line. */

/** By line, from 1: at which column of what is run which column of the source begins, both from 0, in order. */
export type ColumnMap = Record<number, [run: number, source: number][]>;

/** Where in the source a column of what is run was. */
export function toSourceColumn(drift: ColumnMap, line: number, column: number): number {
  const passed = drift[line]?.findLast(([run]) => run <= column);
  return passed ? passed[1] + column - passed[0] : column;
}

/** A change within lines. Where it is as long as what it replaces, nothing moves. */
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

/** Room in place of what stood there. It begins with `;` because what stood there ended the statement before it. */
export function createBlank(source: string, start: number, end: number, first = ";"): Edit {
  return { start, end, text: first + source.slice(start + first.length, end).replace(/[^\n]/g, " ") };
}

/** A short name that does not occur in a text, not even spelled in escapes. It is as long as its stem. */
export function findUnusedName(source: string, stem: string): string {
  const text = source.replace(/\\u(?:([\da-f]{4})|\{([\da-f]{1,6})\})/gi, (_, short: string, long: string) =>
    String.fromCodePoint(Math.min(Number.parseInt(short ?? long, 16), 0x10ffff)),
  );
  for (let count = 0; ; count++) {
    const name = count === 0 ? stem : stem.slice(0, 2) + count.toString(36).padStart(stem.length - 2, "0");
    if (!text.includes(name)) return name;
  }
}
