/**
 * What a `.gitignore` says, as git reads it. By hand, because these patterns come from whoever writes in the folder:
 * made into regular expressions, a line of stars would keep the whole host busy. Here no pattern takes more steps than
 * its length times that of the name.
 */
interface Rule {
  /** A name that may be anywhere below; or else all names from the rules' own folder on. */
  name?: Piece[];
  path?: Piece[][];
  negated: boolean;
  foldersOnly: boolean;
}

/** Any characters, any one, one of several, or just this. */
type Piece = { kind: "star" } | { kind: "any" } | { kind: "set"; has(character: string): boolean } | { kind: "one"; character: string };

/** The rules of one `.gitignore`, for what lies in its folder and below. */
export class IgnoreRules {
  readonly #rules: Rule[];

  constructor(text: string) {
    this.#rules = text.replace(/^\ufeff/, "").split(/\r?\n/).flatMap((line) => ruleOf(line) ?? []);
  }

  /** Says nothing where no rule is about it. The path is relative to the rules' own folder; the last rule wins. */
  verdict(path: string, isFolder: boolean): boolean | undefined {
    const names = path.split("/").map((name) => [...name]);
    const found = this.#rules.findLast((rule) => (isFolder || !rule.foldersOnly) && matches(rule, names));
    return found && !found.negated;
  }
}

const anyNames: Piece[] = [];

function ruleOf(line: string): Rule | undefined {
  let text = withoutTrailingSpaces(line);
  if (text === "" || text.startsWith("#")) return undefined;
  const negated = text.startsWith("!");
  if (negated) text = text.slice(1);
  const foldersOnly = text.endsWith("/");
  if (foldersOnly) text = text.slice(0, -1);
  const isAnchored = text.includes("/");
  if (text.startsWith("/")) text = text.slice(1);
  if (text === "") return undefined;
  if (!isAnchored) {
    const name = text === "**" ? piecesOf("*") : piecesOf(text);
    return name && { name, negated, foldersOnly };
  }
  const path: Piece[][] = [];
  for (const name of text.split("/")) {
    const pieces = name === "**" ? anyNames : piecesOf(name);
    if (!pieces) return undefined;
    path.push(pieces);
  }
  // “a/**” is what is in the folder, not the folder.
  if (path.at(-1) === anyNames) path.push([{ kind: "star" }]);
  return { path, negated, foldersOnly };
}

function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === " " && !isEscaped(line, end - 1)) end--;
  return line.slice(0, end);
}

function isEscaped(line: string, at: number): boolean {
  let backslashes = 0;
  while (line[at - 1 - backslashes] === "\\") backslashes++;
  return backslashes % 2 === 1;
}

/** Nothing where the pattern cannot match anything. */
function piecesOf(pattern: string): Piece[] | undefined {
  const characters = [...pattern];
  const pieces: Piece[] = [];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string;
    if (character === "*") {
      if (pieces.at(-1)?.kind !== "star") pieces.push({ kind: "star" });
    } else if (character === "?") pieces.push({ kind: "any" });
    else if (character === "[") {
      const set = setOf(characters, at);
      if (!set) return undefined;
      pieces.push(set.piece);
      at = set.end;
    } else {
      if (character === "\\") at++;
      const literal = characters[at];
      if (literal === undefined) return undefined;
      pieces.push({ kind: "one", character: literal });
    }
  }
  return pieces;
}

const classes: Record<string, RegExp> = {
  alnum: /[A-Za-z0-9]/,
  alpha: /[A-Za-z]/,
  blank: /[ \t]/,
  digit: /[0-9]/,
  lower: /[a-z]/,
  punct: /[!-/:-@[-`{-~]/,
  space: /\s/,
  upper: /[A-Z]/,
  xdigit: /[0-9A-Fa-f]/,
};

function setOf(characters: string[], start: number): { piece: Piece; end: number } | undefined {
  let at = start + 1;
  const isInverted = characters[at] === "!" || characters[at] === "^";
  if (isInverted) at++;
  const tests: ((character: string) => boolean)[] = [];
  for (let first = true; first || characters[at] !== "]"; first = false) {
    const named = /^\[:([a-z]+):\]/.exec(characters.slice(at, at + 12).join(""));
    if (named) {
      const known = classes[named[1] as string];
      if (!known) return undefined;
      tests.push((character) => known.test(character));
      at += named[0].length;
      continue;
    }
    if (characters[at] === "\\") at++;
    const from = characters[at++];
    if (from === undefined) return undefined;
    if (characters[at] !== "-" || characters[at + 1] === "]" || characters[at + 1] === undefined) tests.push((character) => character === from);
    else {
      at++;
      if (characters[at] === "\\") at++;
      const to = characters[at++];
      if (to === undefined) return undefined;
      tests.push((character) => character >= from && character <= to);
    }
    if (at >= characters.length) return undefined;
  }
  return { piece: { kind: "set", has: (character) => character !== "/" && tests.some((test) => test(character)) !== isInverted }, end: at };
}

/** Names are given by their characters. */
function matches({ name, path = [] }: Rule, names: string[][]): boolean {
  if (name) return isNamed(name, names.at(-1) ?? []);
  return globbed(path.length, names.length, (index) => path[index] === anyNames, (index, at) => isNamed(path[index] as Piece[], names[at] as string[]));
}

function isNamed(pieces: Piece[], characters: string[]): boolean {
  return globbed(pieces.length, characters.length, (index) => pieces[index]?.kind === "star", (index, at) => fits(pieces[index], characters[at] as string));
}

function fits(piece: Piece | undefined, character: string): boolean {
  if (piece?.kind === "one") return piece.character === character;
  return piece?.kind === "set" ? piece.has(character) : true;
}

/** Only the last star ever has to take more: what an earlier one left to match has been matched. */
function globbed(patternLength: number, length: number, isStar: (index: number) => boolean, fits: (index: number, at: number) => boolean): boolean {
  let index = 0;
  let at = 0;
  let star = -1;
  let taken = 0;
  while (at < length) {
    if (index < patternLength && isStar(index)) {
      star = index++;
      taken = at;
    } else if (index < patternLength && fits(index, at)) {
      index++;
      at++;
    } else if (star >= 0) {
      index = star + 1;
      at = ++taken;
    } else return false;
  }
  while (index < patternLength && isStar(index)) index++;
  return index === patternLength;
}
