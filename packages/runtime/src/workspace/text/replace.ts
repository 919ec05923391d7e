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
      /** How many places were replaced. */
      count: number;
    }
  | {
      /** Why nothing was replaced, and what to do about it. */
      refusal: string;
    };

export interface ReplaceOptions {
  /** Only what is there to the letter, line ends excepted: nobody who asks can see those. */
  exact?: boolean;
}

/** More than any file may have. */
const maxChars = 32 * 1024 * 1024;
const maxNamedLines = 5;

/** A text with these edits, one after the other, all or none. */
export function replaceText(text: string, edits: readonly TextEdit[], options: ReplaceOptions = {}): ReplaceResult {
  let now = text;
  let count = 0;
  for (const [index, edit] of edits.entries()) {
    const done = replaceOne(now, edit, options);
    if ("refusal" in done) {
      const which = edits.length > 1 ? `Edit ${index + 1} of ${edits.length}, and so none was made: ` : "";
      return { refusal: which + done.refusal };
    }
    now = done.text;
    count += done.count;
  }
  return { text: now, count };
}

function replaceOne(text: string, edit: TextEdit, { exact = false }: ReplaceOptions): ReplaceResult {
  if (edit.oldString === edit.newString) return { refusal: "oldString and newString are the same." };
  if (edit.oldString === "") {
    return text === ""
      ? { text: edit.newString, count: 1 }
      : { refusal: "oldString is empty. Give the text that newString is to replace." };
  }
  const isWindows = usesReturns(text);
  const oldString = convertLineEnds(edit.oldString, isWindows);
  const newString = convertLineEnds(edit.newString, isWindows);
  // As it was given first: where line ends are mixed, only that is what was meant.
  for (const [piece, written] of [
    [edit.oldString, isWindows ? newString : edit.newString],
    [oldString, newString],
  ] as const) {
    const places = findOccurrences(text, piece);
    if (places.length === 0) continue;
    if (places.length > 1 && !edit.replaceAll)
      return {
        refusal: describeAmbiguity(
          places.length,
          places.slice(0, maxNamedLines).map((place) => getLineNumber(text, place)),
        ),
      };
    return replaceAt(text, dropOverlapping(places, piece.length), piece.length, written);
  }
  return (
    (!exact && replaceTolerantly(text, oldString, newString)) || { refusal: describeNotFound(text, edit.oldString) }
  );
}

function replaceAt(text: string, places: readonly number[], length: number, newString: string): ReplaceResult {
  if (text.length + places.length * (newString.length - length) > maxChars)
    return { refusal: `The file would have more than ${maxChars} characters.` };
  const parts: string[] = [];
  let done = 0;
  for (const place of places) {
    parts.push(text.slice(done, place), newString);
    done = place + length;
  }
  parts.push(text.slice(done));
  return { text: parts.join(""), count: places.length };
}

/** As whole lines, whatever white space is around them; only where there is no doubt which. */
function replaceTolerantly(text: string, oldString: string, newString: string): ReplaceResult | undefined {
  const lineEnd = usesReturns(text) ? "\r\n" : "\n";
  const lines = text.split(lineEnd);
  const wanted = oldString.split(lineEnd);
  // A piece that ends with a line end takes the one in the text with it.
  const takesEnd = wanted.length > 1 && wanted.at(-1) === "";
  if (takesEnd) wanted.pop();
  const found = findTolerantMatches(lines, wanted);
  if (found.length > 1)
    return {
      refusal: describeAmbiguity(
        found.length,
        found.slice(0, maxNamedLines).map(({ line }) => line + 1),
      ),
    };
  const [only] = found;
  if (!only) return undefined;
  const after = only.line + wanted.length;
  const written = only.fitted(newString.split(lineEnd)).join(lineEnd);
  const above = lines
    .slice(0, only.line)
    .map((line) => line + lineEnd)
    .join("");
  const below = lines.slice(after).join(lineEnd);
  const between = takesEnd || after === lines.length ? "" : lineEnd;
  return { text: above + written + between + below, count: 1 };
}

function describeAmbiguity(count: number, lines: readonly number[]): string {
  const more = count > lines.length ? ` and ${count - lines.length} more` : "";
  return `oldString is there ${count} times, on lines ${lines.join(", ")}${more}. Give more of the text around the one you mean, or set replaceAll.`;
}

function describeNotFound(text: string, oldString: string): string {
  if (text === "") return "oldString is not there: the file is empty.";
  const wanted = splitPlainLines(oldString);
  const nearest = findNearestLines(splitPlainLines(text), wanted);
  const hint = wanted.every((line) => /^ *\d+\t/.test(line)) ? " Leave out the line numbers." : "";
  return `oldString is not there.${hint}${nearest ? ` The nearest text is:\n${nearest}` : " Nothing in the file is like it."}`;
}

function splitPlainLines(text: string): string[] {
  return text.replaceAll("\r\n", "\n").split("\n");
}

function getLineNumber(text: string, place: number): number {
  return countLineEnds(text, place) + 1;
}

/** Do all lines end as on Windows? What is written there ends so too. */
function usesReturns(text: string): boolean {
  const first = text.indexOf("\n");
  return first > 0 && text.charCodeAt(first - 1) === 13 && !/(?:^|[^\r])\n/.test(text);
}

function convertLineEnds(text: string, isWindows: boolean): string {
  const plain = text.includes("\r\n") ? text.replaceAll("\r\n", "\n") : text;
  return isWindows ? plain.replaceAll("\n", "\r\n") : plain;
}
