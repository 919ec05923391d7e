import { Matcher } from "./matcher.ts";
import { parseSegment, type PathPattern, type SegmentSyntax, toCode, toSteps } from "./path-pattern.ts";

/** One line of a `.gitignore`. */
export interface GitignoreRule {
  isNegated: boolean;
  foldersOnly: boolean;
  /** Matches a path that is relative to the folder of the `.gitignore`. */
  matches(path: string): boolean;
}

/** Parses the lines of a `.gitignore`. Lines that cannot match anything are left out. */
export function parseGitignore(text: string): GitignoreRule[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  return lines.flatMap((line) => parseRule(line) ?? []);
}

function parseRule(line: string): GitignoreRule | undefined {
  let text = trimUnescapedSpaces(line);
  if (text === "" || text.startsWith("#")) return undefined;
  const isNegated = text.startsWith("!");
  if (isNegated) text = text.slice(1);
  const foldersOnly = text.endsWith("/");
  if (foldersOnly) text = text.slice(0, -1);
  const isAnchored = text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  if (text === "") return undefined;
  const pattern: PathPattern = [];
  for (const name of text.split("/")) {
    const segment = name === "**" && isAnchored ? "**" : parseSegment(name, syntax);
    if (!segment) return undefined;
    pattern.push(segment);
  }
  let matcher: Matcher | undefined;
  const matches = (path: string) => {
    matcher ??= new Matcher([toSteps(pattern)]);
    return matcher.matches(isAnchored ? path : path.slice(path.lastIndexOf("/") + 1));
  };
  return { isNegated, foldersOnly, matches };
}

function trimUnescapedSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && !isEscaped(line, end - 1)) end--;
  return line.slice(0, end);
}

function isEscaped(line: string, at: number): boolean {
  let backslashes = 0;
  while (line[at - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}

type Range = [number, number];

/** Ranges are written as pairs of characters. */
const toRanges = (text: string) => (text.match(/../gs) ?? []).map((pair): Range => [toCode(pair[0]), toCode(pair[1])]);

const classes: Record<string, Range[]> = {
  alnum: toRanges("AZaz09"),
  alpha: toRanges("AZaz"),
  blank: toRanges("  \t\t"),
  digit: toRanges("09"),
  lower: toRanges("az"),
  punct: toRanges("!/:@[`{~"),
  space: toRanges("  \t\r"),
  upper: toRanges("AZ"),
  xdigit: toRanges("09AFaf"),
};

const syntax: SegmentSyntax = {
  isLenient: false,
  parseSet(characters, start) {
    let at = start + 1;
    const negated = characters[at] === "!" || characters[at] === "^";
    if (negated) at++;
    const ranges: Range[] = [];
    for (let first = true; first || characters[at] !== "]"; first = false) {
      const named = /^\[:([a-z]+):\]/.exec(characters.slice(at, at + 12).join(""));
      if (named) {
        const known = classes[named[1] as string];
        if (!known) return undefined;
        ranges.push(...known);
        at += named[0].length;
        continue;
      }
      if (characters[at] === "\\") at++;
      const from = characters[at++];
      if (from === undefined) return undefined;
      let to: string | undefined = from;
      if (characters[at] === "-" && characters[at + 1] !== "]" && characters[at + 1] !== undefined) {
        at++;
        if (characters[at] === "\\") at++;
        to = characters[at++];
        if (to === undefined) return undefined;
      }
      ranges.push([toCode(from), toCode(to)]);
      if (at >= characters.length) return undefined;
    }
    return { token: { negated, ranges }, end: at };
  },
};
