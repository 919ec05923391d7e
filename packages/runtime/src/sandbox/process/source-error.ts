import { type ColumnMap, toSourceColumn } from "./column-map.ts";

/** Why code cannot be run at all, in words for whoever wrote it. */
export class SourceError extends Error {
  readonly kind: "syntax" | "limit";

  constructor(kind: "syntax" | "limit", message: string) {
    super(message);
    this.kind = kind;
  }
}

/** One file of the code: as it was given, and as it is once types are gone. */
export interface SourceFile {
  name: string;
  given: string;
  text: string;
  drift: ColumnMap;
}

/** How much of a long line is shown around the place. */
const maxShownChars = 120;

/** A syntax error at an offset of the source's text, with the line as it was given and a caret below. */
export function createSyntaxError({ name, given, text, drift }: SourceFile, offset: number, what: string): SourceError {
  const before = text.slice(0, offset).split("\n");
  const line = before.length;
  return createSyntaxErrorAt(name, given, line, toSourceColumn(drift, line, before.at(-1)?.length ?? 0), what);
}

/** Lines count from 1, columns from 0; what is shown counts both from 1, as stacks do. */
export function createSyntaxErrorAt(
  name: string,
  given: string,
  line: number,
  column: number,
  what: string,
): SourceError {
  return new SourceError(
    "syntax",
    `SyntaxError: ${what} (${name}:${line}:${column + 1})${formatExcerpt(given.split(/\r?\n/)[line - 1] ?? "", line, column)}`,
  );
}

function formatExcerpt(text: string, line: number, column: number): string {
  if (text.trim() === "") return "";
  const from = Math.max(0, Math.min(column - maxShownChars / 2, text.length - maxShownChars));
  const piece = text.slice(from, from + maxShownChars);
  // A tab stays a tab, so that the caret is below its place however wide it is.
  const indent = piece.slice(0, column - from).replace(/[^\t]/g, " ");
  const margin = `  ${line} | `;
  return `\n\n${margin}${piece}\n${" ".repeat(margin.length - 2)}| ${indent}^`;
}
