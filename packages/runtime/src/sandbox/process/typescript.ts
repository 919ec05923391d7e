import type { ColumnMap } from "./column-map.ts";
import type { Strip } from "./stripper/strip.ts";

/** TypeScript without its types, and the way back to where things were. */

/** Takes the types out of a text; another isolate does it where there is one. */
export type Stripper = (given: string) => Promise<Strip> | Strip;

export interface Stripped {
  text: string;
  drift: ColumnMap;
}

/** Why something cannot be read; the offset counts from 0. */
export interface SyntaxIssue {
  message: string;
  pos: number | undefined;
}

/** Namespaces with code in them; the stripper takes them for types and would leave nothing of them. */
const namespacePattern = /(?<=^|[;{}\n])[ \t]*(?:export[ \t]+)?(?:namespace|module)[ \t]+([\w$.]+)[ \t]*\{/g;

export async function stripTypes(given: string, stripper: Stripper): Promise<Stripped | SyntaxIssue> {
  const mark = findUnusedSpace(given);
  const marked = given.replace(emptyTemplatePart, mark);
  const stripped = await stripper(marked);
  if ("message" in stripped)
    return { ...stripped, pos: stripped.pos && stripped.pos - createMarkCounter(marked, mark)(stripped.pos) };
  const text = stripped.code.replaceAll(mark, "");
  for (const { 0: found, 1: name = "", index } of given.matchAll(namespacePattern)) {
    // One in a string or a comment is still there.
    if (!text.includes(found))
      return { message: "A namespace cannot be run here: write a module", pos: index + found.lastIndexOf(name) };
  }
  return {
    text,
    drift: computeColumnMap(marked.split("\n"), stripped.code.split("\n"), parseMappings(stripped.mappings), mark),
  };
}

/**
 * The stripper's map is of no use after a part of a template that is empty, as before `${` in `\`${x}\``. So none is:
 * in each there is a space of a kind that does not occur otherwise, until the types are gone.
 */
const emptyTemplatePart = /(?<=[`}])(?=`|\$\{)/g;

function findUnusedSpace(text: string): string {
  const spaces = Array.from("\u2003\u2002\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2000\u2001\u205f");
  return spaces.find((space) => !text.includes(space)) ?? "";
}

/** How many marks a text has before a place; to be asked for one place after the other. */
function createMarkCounter(text: string, mark: string): (place: number) => number {
  let passed = 0;
  let next = mark ? text.indexOf(mark) : -1;
  return (place) => {
    for (; next >= 0 && next < place; next = text.indexOf(mark, next + 1)) passed++;
    return passed;
  };
}

function computeColumnMap(given: string[], stripped: string[], columns: [number, number][][], mark: string): ColumnMap {
  const drift: ColumnMap = {};
  for (const [index, tokens] of columns.entries()) {
    const source = given[index] ?? "";
    const run = stripped[index] ?? "";
    const [marksInRun, marksInSource] = [createMarkCounter(run, mark), createMarkCounter(source, mark)];
    let moved = 0;
    for (const [at, [column, mapped]] of tokens.entries()) {
      const next = tokens[at + 1];
      const found = findBehindTypes(source, mapped, next?.[1], run.slice(column, next?.[0]).trimEnd());
      if (column - found === moved) continue;
      moved = column - found;
      (drift[index + 1] ??= []).push([column - marksInRun(column), found - marksInSource(found)]);
    }
  }
  return drift;
}

/** The map has a token that follows types begin where the types do. Up to the next one it is the last thing there. */
function findBehindTypes(line: string, from: number, to: number | undefined, token: string): number {
  if (token === "" || line.startsWith(token, from)) return from;
  return from + Math.max(0, line.slice(from, to).lastIndexOf(token));
}

const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** A source map's mappings: for every line, which column came from which; lines themselves stay. */
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

/** Numbers in base 64, five bits a digit, the lowest first; the sixth bit says that more follow, the very first bit is the sign. */
function decodeVlq(segment: string): number[] {
  const found: number[] = [];
  let value = 0;
  let shift = 0;
  for (const char of segment) {
    const digit = digits.indexOf(char);
    value += (digit & 31) << shift;
    shift += 5;
    if (digit & 32) continue;
    found.push(value & 1 ? -(value >> 1) : value >> 1);
    value = shift = 0;
  }
  return found;
}
