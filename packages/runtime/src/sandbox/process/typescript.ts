import type { ColumnMap } from "./column-map.ts";
import type { Strip } from "./stripper/strip.ts";

/** Removes the types from a source, usually in another isolate. */
export type Stripper = (source: string) => Promise<Strip> | Strip;

export interface Stripped {
  text: string;
  columnMap: ColumnMap;
}

/** Why a source cannot be parsed; the offset counts from 0. */
export interface SyntaxIssue {
  message: string;
  pos: number | undefined;
}

/** Namespaces with code, which the stripper would remove as if they were types. */
const namespacePattern = /(?<=^|[;{}\n])[ \t]*(?:export[ \t]+)?(?:namespace|module)[ \t]+([\w$.]+)[ \t]*\{/g;

/** Strips types and maps columns back to the source. */
export async function stripTypes(source: string, stripper: Stripper): Promise<Stripped | SyntaxIssue> {
  const mark = findUnusedSpace(source);
  const marked = source.replace(emptyTemplatePart, mark);
  const stripped = await stripper(marked);
  if ("message" in stripped)
    return { ...stripped, pos: stripped.pos && stripped.pos - createMarkCounter(marked, mark)(stripped.pos) };
  const text = stripped.code.replaceAll(mark, "");
  for (const { 0: found, 1: name = "", index } of source.matchAll(namespacePattern)) {
    // One in a string or a comment is still in the text.
    if (!text.includes(found))
      return { message: "Namespaces are not supported: use a module", pos: index + found.lastIndexOf(name) };
  }
  return {
    text,
    columnMap: computeColumnMap(marked.split("\n"), stripped.code.split("\n"), parseMappings(stripped.mappings), mark),
  };
}

/**
 * The stripper's source map is wrong after an empty part of a template, such as before `${` in `\`${x}\``. So while types
 * are stripped, every empty part is filled with a space character that does not occur otherwise.
 */
const emptyTemplatePart = /(?<=[`}])(?=`|\$\{)/g;

function findUnusedSpace(text: string): string {
  const spaces = Array.from("\u2003\u2002\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2000\u2001\u205f");
  return spaces.find((space) => !text.includes(space)) ?? "";
}

/** Returns a function that counts the marks before a position; positions must be ascending. */
function createMarkCounter(text: string, mark: string): (position: number) => number {
  let count = 0;
  let next = mark ? text.indexOf(mark) : -1;
  return (position) => {
    for (; next >= 0 && next < position; next = text.indexOf(mark, next + 1)) count++;
    return count;
  };
}

function computeColumnMap(
  sourceLines: string[],
  strippedLines: string[],
  columns: [number, number][][],
  mark: string,
): ColumnMap {
  const columnMap: ColumnMap = {};
  for (const [index, tokens] of columns.entries()) {
    const source = sourceLines[index] ?? "";
    const run = strippedLines[index] ?? "";
    const [marksInRun, marksInSource] = [createMarkCounter(run, mark), createMarkCounter(source, mark)];
    let shift = 0;
    for (const [at, [column, mapped]] of tokens.entries()) {
      const next = tokens[at + 1];
      const found = findBehindTypes(source, mapped, next?.[1], run.slice(column, next?.[0]).trimEnd());
      if (column - found === shift) continue;
      shift = column - found;
      (columnMap[index + 1] ??= []).push([column - marksInRun(column), found - marksInSource(found)]);
    }
  }
  return columnMap;
}

/** The map places a token after types where the types begin. It is the last occurrence before the next token. */
function findBehindTypes(line: string, from: number, to: number | undefined, token: string): number {
  if (token === "" || line.startsWith(token, from)) return from;
  return from + Math.max(0, line.slice(from, to).lastIndexOf(token));
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** Parses a source map's mappings: for every line, pairs of columns. Lines do not move. */
function parseMappings(mappings: string): [number, number][][] {
  let source = 0;
  return mappings.split(";").map((line) => {
    let column = 0;
    return line.split(",").flatMap((segment): [number, number][] => {
      const [step, , , sourceStep] = decodeVlq(segment);
      if (step === undefined || sourceStep === undefined) return [];
      column += step;
      source += sourceStep;
      return [[column, source]];
    });
  });
}

/**
 * Decodes base64 VLQ: five bits per digit, lowest first; the sixth bit says that more follow, the lowest bit is the
 * sign.
 */
function decodeVlq(segment: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const char of segment) {
    const digit = digits.indexOf(char);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = shift = 0;
  }
  return numbers;
}
