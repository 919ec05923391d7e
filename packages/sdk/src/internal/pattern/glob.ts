import { fail } from "../../protocol/errors.ts";
import { Matcher } from "./matcher.ts";
import {
  parseSegment,
  type PathPattern,
  type Segment,
  type SegmentSyntax,
  type Step,
  toCode,
  toSteps,
} from "./path-pattern.ts";

const maxPatternChars = 1000;
const maxAlternatives = 64;
/** Maximum work for all paths that one pattern is matched against. */
const maxSteps = 5_000_000;

/**
 * Matches paths: `*` and `?` within a name, `**` across folders, `{a,b}`, `[a-z]`, `[!a]`. A pattern without a slash
 * matches names in any folder. Throws if the pattern is too large or takes too many steps.
 */
export class Glob {
  readonly #literal: string;
  readonly #matcher: Matcher;

  constructor(pattern: string) {
    if (pattern.length > maxPatternChars) {
      throw fail("bad_request", `The pattern is longer than ${maxPatternChars} characters.`);
    }
    this.#literal = pattern.replace(/^(?:\/work\/|\/|(?:\.\/)+)/, "").normalize("NFC");
    this.#matcher = new Matcher(expandBraces(this.#literal).map(parseAlternative));
  }

  /** The work done so far, for all paths. */
  get steps(): number {
    return this.#matcher.steps;
  }

  matches(path: string): boolean {
    // Names with brackets are common, so a pattern also matches the path that equals it.
    if (path === this.#literal) return true;
    const isMatch = this.#matcher.matches(path);
    if (this.steps > maxSteps) {
      throw fail("bad_request", "The pattern takes too long to match. Use fewer stars and alternatives.");
    }
    return isMatch;
  }
}

function parseAlternative(text: string): Step[] {
  const names = text.split("/").filter((name) => name !== "");
  if (text.endsWith("/")) names.push("**");
  const pattern: PathPattern = names.map((name) => (name === "**" ? "**" : (parseSegment(name, syntax) as Segment)));
  return toSteps(text.includes("/") ? pattern : ["**", ...pattern]);
}

/** `[abc]`, `[a-z]`, `[!a]`, `[^a]`. A bracket that is not closed is literal. */
const syntax: SegmentSyntax = {
  isLenient: true,
  parseSet(characters, start) {
    const negated = characters[start + 1] === "!" || characters[start + 1] === "^";
    const first = start + (negated ? 2 : 1);
    const end = characters.indexOf("]", first + 1);
    if (end < 0) return undefined;
    const ranges: [number, number][] = [];
    for (let at = first; at < end; at++) {
      const isRange = characters[at + 1] === "-" && at + 2 < end;
      ranges.push([toCode(characters[at]), toCode(characters[isRange ? at + 2 : at])]);
      if (isRange) at += 2;
    }
    return { token: { negated, ranges }, end };
  },
};

/** Braces that are not closed, or without a comma, are literal. */
function expandBraces(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const choice = findChoice(next);
    if (!choice) done.push(next);
    else for (const option of choice.options) open.push(next.slice(0, choice.from) + option + next.slice(choice.to));
    if (done.length + open.length > maxAlternatives) {
      throw fail("bad_request", `The pattern has more than ${maxAlternatives} alternatives. Use several patterns.`);
    }
  }
  return done;
}

function findChoice(pattern: string): { from: number; to: number; options: string[] } | undefined {
  for (let from = pattern.indexOf("{"); from >= 0; from = pattern.indexOf("{", from + 1)) {
    if (pattern[from - 1] === "\\") continue;
    let depth = 0;
    const cuts = [from];
    for (let at = from; at < pattern.length; at++) {
      const character = pattern[at];
      if (character === "\\") at++;
      else if (character === "{") depth++;
      else if (character === "," && depth === 1) cuts.push(at);
      else if (character === "}" && --depth === 0) {
        if (cuts.length === 1) break;
        const options = cuts.map((cut, index) => pattern.slice(cut + 1, cuts[index + 1] ?? at));
        return { from, to: at + 1, options };
      }
    }
  }
  return undefined;
}
