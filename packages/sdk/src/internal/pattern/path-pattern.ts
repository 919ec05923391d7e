/** A code point, or a set of them. Only the code point of a slash matches a slash. */
export type Token = number | { negated: boolean; ranges: readonly (readonly [number, number])[] };

/** The name of a file or folder: tokens, and stars for any number of characters. */
export type Segment = (Token | "*")[];

/** Segments that are separated by slashes; `**` stands for any number of folders. */
export type PathPattern = (Segment | "**")[];

/**
 * A position in a pattern. `token` leads to the next one; the last has none. Characters that `loop` allows may be
 * skipped here: those of a segment (`*`), or whole folders (`**`, which need not be there at all).
 */
export interface Step {
  loop?: "segment" | "folders";
  token?: Token;
}

export const slash = 0x2f;

/** `?` */
export const anyCharacter: Token = { negated: true, ranges: [] };

export function toSteps(pattern: PathPattern): Step[] {
  let step: Step = {};
  const steps = [step];
  const consume = (token: Token) => {
    step.token = token;
    step = {};
    steps.push(step);
  };
  for (const [index, part] of pattern.entries()) {
    if (part !== "**") {
      for (const token of part) {
        if (token === "*") step.loop = "segment";
        else consume(token);
      }
      if (index < pattern.length - 1) consume(slash);
    } else if (pattern[index + 1] !== "**") {
      step.loop = "folders";
      consume(slash);
      // Two stars at the end match the content of a folder, not the folder itself.
      if (index === pattern.length - 1) step.loop = "segment";
    }
  }
  return steps;
}

export function matchesToken(token: Token, code: number): boolean {
  if (typeof token === "number") return token === code;
  if (token === anyCharacter) return code !== slash;
  return code !== slash && token.ranges.some(([from, to]) => code >= from && code <= to) !== token.negated;
}

/** How a syntax handles brackets, and incomplete brackets and backslashes. */
export interface SegmentSyntax {
  /** Parses the set that begins with the bracket at `start`; returns undefined if it does not end. */
  parseSet(characters: readonly string[], start: number): { token: Token; end: number } | undefined;
  /** Whether incomplete ones are literal characters. Otherwise they make the pattern invalid. */
  isLenient: boolean;
}

/** Returns undefined if the segment is invalid. */
export function parseSegment(text: string, { parseSet, isLenient }: SegmentSyntax): Segment | undefined {
  const characters = Array.from(text);
  const segment: Segment = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string;
    const set = character === "[" ? parseSet(characters, at) : undefined;
    if (set) {
      segment.push(set.token);
      at = set.end;
    } else if (character === "*") segment.push("*");
    else if (character === "?") segment.push(anyCharacter);
    else if (character === "\\" && at + 1 < characters.length) segment.push(toCode(characters[++at]));
    else if ((character === "[" || character === "\\") && !isLenient) return undefined;
    else segment.push(toCode(character));
  }
  return segment;
}

export const toCode = (character: string | undefined) => (character as string).codePointAt(0) as number;
