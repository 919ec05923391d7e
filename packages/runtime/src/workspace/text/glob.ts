import { fail } from "@thinkery/sdk";

/** One name of a pattern: characters, sets of them, and stars. */
type Part = string | "*any" | "*one" | { not: boolean; ranges: [number, number][] };

type Names = (readonly Part[] | "**")[];

const longestPattern = 1000;
const mostAlternatives = 64;
/** In single comparisons, for all paths that one pattern is asked about. */
const work = 20_000_000;

/**
 * Paths by pattern: `*` and `?` within a name, `**` across folders, `{a,b}`, `[a-z]`, `[!a]`. A pattern without a slash
 * is about names in any folder. There is an end to the work that a pattern may make.
 */
export class Glob {
  readonly #literal: string;
  readonly #alternatives: readonly Names[];
  #left = work;

  constructor(pattern: string) {
    if (pattern.length > longestPattern) throw fail("bad_request", `A pattern may have ${longestPattern} characters.`);
    const plain = pattern.replace(/^(?:\/work\/|\/|(?:\.\/)+)/, "").normalize("NFC");
    this.#literal = plain;
    this.#alternatives = alternatives(plain).map(namesOf);
  }

  matches(path: string): boolean {
    // Names with brackets in them are common, and whoever writes one whole means it.
    if (path === this.#literal) return true;
    const names = path.split("/");
    return this.#alternatives.some((pattern) => this.#follows(names, pattern));
  }

  /** Goes on from the last `**` when something does not fit: what was before it need not be looked at again. */
  #follows(names: readonly string[], pattern: Names): boolean {
    let [name, part, star, resume] = [0, 0, -1, 0];
    while (name < names.length) {
      const wanted = pattern[part];
      if (wanted === "**") {
        star = part++;
        resume = name;
      } else if (wanted !== undefined && this.#fits(names[name] as string, wanted)) {
        part += 1;
        name += 1;
      } else if (star >= 0) {
        part = star + 1;
        name = ++resume;
      } else return false;
    }
    while (pattern[part] === "**") part += 1;
    return part === pattern.length;
  }

  #fits(name: string, parts: readonly Part[]): boolean {
    const characters = Array.from(name);
    let [at, part, star, resume] = [0, 0, -1, 0];
    while (at < characters.length) {
      if (--this.#left < 0) throw fail("bad_request", "This pattern takes too long. Use fewer stars and alternatives.");
      const wanted = parts[part];
      if (wanted === "*any") {
        star = part++;
        resume = at;
      } else if (wanted !== undefined && isOne(characters[at] as string, wanted)) {
        part += 1;
        at += 1;
      } else if (star >= 0) {
        part = star + 1;
        at = ++resume;
      } else return false;
    }
    while (parts[part] === "*any") part += 1;
    return part === parts.length;
  }
}

function isOne(character: string, wanted: Part): boolean {
  if (typeof wanted === "string") return wanted === "*one" || wanted === character;
  const point = character.codePointAt(0) as number;
  return wanted.ranges.some(([from, to]) => point >= from && point <= to) !== wanted.not;
}

function namesOf(pattern: string): Names {
  const written = pattern.split("/").filter((name) => name !== "");
  if (pattern.endsWith("/")) written.push("**");
  const names: Names = written.map((name) => (name === "**" ? "**" : partsOf(name)));
  // Two stars at the end are what is in a folder, not the folder.
  if (names.at(-1) === "**") names.push(["*any"]);
  return pattern.includes("/") ? names : ["**", ...names];
}

function partsOf(name: string): Part[] {
  const characters = Array.from(name);
  const parts: Part[] = [];
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] as string;
    const set = character === "[" ? setAt(characters, at) : undefined;
    if (set) {
      parts.push(set.part);
      at = set.end;
    } else if (character === "*") {
      if (parts.at(-1) !== "*any") parts.push("*any");
    } else if (character === "?") parts.push("*one");
    else if (character === "\\" && at + 1 < characters.length) parts.push(characters[++at] as string);
    else parts.push(character);
  }
  return parts;
}

/** `[abc]`, `[a-z]`, `[!a]`, `[^a]`; a bracket that nothing closes is a bracket. */
function setAt(characters: readonly string[], from: number): { part: Part; end: number } | undefined {
  const not = characters[from + 1] === "!" || characters[from + 1] === "^";
  const first = from + (not ? 2 : 1);
  const end = characters.indexOf("]", first + 1);
  if (end < 0) return undefined;
  const ranges: [number, number][] = [];
  const point = (at: number) => (characters[at] as string).codePointAt(0) as number;
  for (let at = first; at < end; at += 1) {
    const isRange = characters[at + 1] === "-" && at + 2 < end;
    ranges.push([point(at), point(isRange ? at + 2 : at)]);
    if (isRange) at += 2;
  }
  return { part: { not, ranges }, end };
}

/** What braces stand for, each written out; braces that nothing closes, or with nothing to choose in them, are braces. */
function alternatives(pattern: string): string[] {
  const done: string[] = [];
  const open = [pattern];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const choice = choiceIn(next);
    if (!choice) done.push(next);
    else for (const option of choice.options) open.push(next.slice(0, choice.from) + option + next.slice(choice.to));
    if (done.length + open.length > mostAlternatives) throw fail("bad_request", `A pattern may stand for ${mostAlternatives} alternatives. Use several patterns.`);
  }
  return done;
}

function choiceIn(pattern: string): { from: number; to: number; options: string[] } | undefined {
  for (let from = pattern.indexOf("{"); from >= 0; from = pattern.indexOf("{", from + 1)) {
    if (pattern[from - 1] === "\\") continue;
    let depth = 0;
    const cuts = [from];
    for (let at = from; at < pattern.length; at += 1) {
      const character = pattern[at];
      if (character === "\\") at += 1;
      else if (character === "{") depth += 1;
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
