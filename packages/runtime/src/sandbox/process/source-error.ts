import { type ColumnMap, toSourceColumn } from "./column-map.ts";

/** Why code cannot be run at all, for its author. */
export class SourceError extends Error {
  readonly kind: "syntax" | "limit";

  constructor(kind: "syntax" | "limit", message: string) {
    super(message);
    this.kind = kind;
  }
}

/** One file of the code: its source, and its text without types. */
export interface SourceFile {
  name: string;
  source: string;
  text: string;
  columnMap: ColumnMap;
}

/** Length of the excerpt of a long line. */
const maxShownChars = 120;

/** Creates a syntax error at an offset of the file's text, with its source line and a caret below. */
export function createSyntaxError(
  { name, source, text, columnMap }: SourceFile,
  offset: number,
  message: string,
): SourceError {
  const before = text.slice(0, offset).split("\n");
  const line = before.length;
  return createSyntaxErrorAt(name, source, line, toSourceColumn(columnMap, line, before.at(-1)?.length ?? 0), message);
}

/** Lines count from 1, columns from 0. The message counts both from 1, like stack traces. */
export function createSyntaxErrorAt(
  name: string,
  source: string,
  line: number,
  column: number,
  message: string,
): SourceError {
  return new SourceError(
    "syntax",
    `SyntaxError: ${message} (${name}:${line}:${column + 1})${formatExcerpt(source.split(/\r?\n/)[line - 1] ?? "", line, column)}`,
  );
}

function formatExcerpt(text: string, line: number, column: number): string {
  if (text.trim() === "") return "";
  const from = Math.max(0, Math.min(column - maxShownChars / 2, text.length - maxShownChars));
  const piece = text.slice(from, from + maxShownChars);
  // Tabs are kept, so that the caret is aligned whatever their width.
  const indent = piece.slice(0, column - from).replace(/[^\t]/g, " ");
  const margin = `  ${line} | `;
  return `\n\n${margin}${piece}\n${" ".repeat(margin.length - 2)}| ${indent}^`;
}
