import { dropOverlapping, findOccurrences } from "./find.ts";
import { countLineEnds } from "./lines.ts";
import { findNearestLines } from "./nearest-lines.ts";
import { findTolerantMatches } from "./tolerant-match.ts";

export interface TextEdit {
  oldString: string;
  newString: string;
  replaceAll?: boolean | undefined;
}

export type ReplaceResult =
  | {
      text: string;
      /** Number of replaced occurrences. */
      count: number;
    }
  | {
      /** Why nothing was replaced, and what to do about it. */
      error: string;
    };

export interface ReplaceOptions {
  /** Requires an exact match, except for line endings, which a model cannot see. */
  exact?: boolean;
}

/** More than any file can have. */
const maxChars = 32 * 1024 * 1024;
const maxListedLines = 5;

/** Applies edits to a text in order, all or none. */
export function replaceText(text: string, edits: readonly TextEdit[], options: ReplaceOptions = {}): ReplaceResult {
  let edited = text;
  let count = 0;
  for (const [index, edit] of edits.entries()) {
    const result = replaceOne(edited, edit, options);
    if ("error" in result) {
      const prefix = edits.length > 1 ? `Edit ${index + 1} of ${edits.length} failed, so none was made: ` : "";
      return { error: prefix + result.error };
    }
    edited = result.text;
    count += result.count;
  }
  return { text: edited, count };
}

function replaceOne(text: string, edit: TextEdit, { exact = false }: ReplaceOptions): ReplaceResult {
  if (edit.oldString === edit.newString) return { error: "oldString and newString are the same." };
  if (edit.oldString === "") {
    return text === ""
      ? { text: edit.newString, count: 1 }
      : { error: "oldString is empty. Give the text to replace." };
  }
  const isCrlf = usesCrlf(text);
  const oldString = convertLineEnds(edit.oldString, isCrlf);
  const newString = convertLineEnds(edit.newString, isCrlf);
  // As given first: if line endings are mixed, only an exact match is certain.
  for (const [searched, replacement] of [
    [edit.oldString, isCrlf ? newString : edit.newString],
    [oldString, newString],
  ] as const) {
    const offsets = findOccurrences(text, searched);
    if (offsets.length === 0) continue;
    if (offsets.length > 1 && !edit.replaceAll)
      return {
        error: describeAmbiguity(
          offsets.length,
          offsets.slice(0, maxListedLines).map((offset) => getLineNumber(text, offset)),
        ),
      };
    return replaceAt(text, dropOverlapping(offsets, searched.length), searched.length, replacement);
  }
  return (!exact && replaceTolerantly(text, oldString, newString)) || { error: describeNotFound(text, edit.oldString) };
}

function replaceAt(text: string, offsets: readonly number[], length: number, newString: string): ReplaceResult {
  if (text.length + offsets.length * (newString.length - length) > maxChars)
    return { error: `The file would have more than ${maxChars} characters.` };
  const parts: string[] = [];
  let done = 0;
  for (const offset of offsets) {
    parts.push(text.slice(done, offset), newString);
    done = offset + length;
  }
  parts.push(text.slice(done));
  return { text: parts.join(""), count: offsets.length };
}

/** Matches whole lines regardless of surrounding whitespace, if the match is unambiguous. */
function replaceTolerantly(text: string, oldString: string, newString: string): ReplaceResult | undefined {
  const lineEnd = usesCrlf(text) ? "\r\n" : "\n";
  const lines = text.split(lineEnd);
  const searched = oldString.split(lineEnd);
  // If oldString ends with a line ending, the one in the text is replaced too.
  const takesEnd = searched.length > 1 && searched.at(-1) === "";
  if (takesEnd) searched.pop();
  const matches = findTolerantMatches(lines, searched);
  if (matches.length > 1)
    return {
      error: describeAmbiguity(
        matches.length,
        matches.slice(0, maxListedLines).map(({ line }) => line + 1),
      ),
    };
  const [match] = matches;
  if (!match) return undefined;
  const after = match.line + searched.length;
  const replacement = match.reindent(newString.split(lineEnd)).join(lineEnd);
  const above = lines
    .slice(0, match.line)
    .map((line) => line + lineEnd)
    .join("");
  const below = lines.slice(after).join(lineEnd);
  const between = takesEnd || after === lines.length ? "" : lineEnd;
  return { text: above + replacement + between + below, count: 1 };
}

function describeAmbiguity(count: number, lines: readonly number[]): string {
  const more = count > lines.length ? ` and ${count - lines.length} more` : "";
  return `oldString occurs ${count} times, on lines ${lines.join(", ")}${more}. Include more surrounding text to make it unique, or set replaceAll.`;
}

function describeNotFound(text: string, oldString: string): string {
  if (text === "") return "oldString was not found: the file is empty.";
  const searched = splitPlainLines(oldString);
  const nearest = findNearestLines(splitPlainLines(text), searched);
  const hint = searched.every((line) => /^ *\d+\t/.test(line)) ? " Leave out the line numbers." : "";
  return `oldString was not found.${hint}${nearest ? ` The most similar text is:\n${nearest}` : " Nothing in the file is similar."}`;
}

function splitPlainLines(text: string): string[] {
  return text.replaceAll("\r\n", "\n").split("\n");
}

function getLineNumber(text: string, offset: number): number {
  return countLineEnds(text, offset) + 1;
}

/** Whether all lines end with CRLF; replacements then do too. */
function usesCrlf(text: string): boolean {
  const first = text.indexOf("\n");
  return first > 0 && text.charCodeAt(first - 1) === 13 && !/(?:^|[^\r])\n/.test(text);
}

function convertLineEnds(text: string, isCrlf: boolean): string {
  const plain = text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
  return isCrlf ? plain.replaceAll("\n", "\r\n") : plain;
}
