import { findNearest } from "./nearest.ts";

/** Everyone that a text may mention. */
export interface Names {
  /** Returns an agent's name as it is written, whatever its case in the text. */
  findAgent(name: string): string | undefined;
  hasPerson(name: string): boolean;
  listAgents(): string[];
}

export interface Mentions {
  agents: string[];
  /** What looks like a mention but names nobody. */
  unknown: { name: string; suggestion?: string }[];
}

// Code, or an @ and everything after it that a name may contain. A word, an address or a path before the @ is no
// mention. Each character is looked at once: texts are long and from anyone.
const tokenPattern = /```[^]*?(?:```|$)|`[^`\n]*`|(?<![A-Za-z0-9\u00c0-\u024f_@/.:-])@([A-Za-z0-9][A-Za-z0-9._-]*)/g;
/** What continues a word that cannot be a name: `@jos` in `@josé` is nobody, and `@a@b` is an address. */
const wordCharacter = /[@\u00c0-\u024f]/;
const lastLetter = /[A-Za-z0-9]/;

const maxNameChars = 64;
/** Different names that one text is searched for. */
const maxNames = 1000;
const maxUnknown = 20;
/** Characters that are searched in about a microsecond. */
const charsPerUnit = 100;

/** Finds whom a message mentions. What is in code is not searched. */
export function findMentions(text: string, names: Names): Mentions {
  const search = searchMentions(text, names);
  for (;;) {
    const { done, value } = search.next();
    if (done) return value;
  }
}

/** Like `findMentions`, for texts of any length. Yields how much work each part was, in microseconds. */
export function* searchMentions(text: string, names: Names): Generator<number, Mentions, undefined> {
  const agents = new Set<string>();
  const unknown = new Map<string, string | undefined>();
  for (const name of yield* listNames(text)) {
    const agent = names.findAgent(name);
    yield 10;
    if (agent !== undefined) agents.add(agent);
    else if (unknown.size < maxUnknown && !names.hasPerson(name)) {
      const candidates = names.listAgents();
      unknown.set(name, findNearest(name, candidates));
      yield candidates.length * name.length;
    }
  }
  return {
    agents: [...agents],
    unknown: [...unknown].map(([name, suggestion]) => (suggestion === undefined ? { name } : { name, suggestion })),
  };
}

function* listNames(text: string): Generator<number, Iterable<string>, undefined> {
  const found = new Map<string, string>();
  let from = 0;
  for (const { name, end } of scanMentions(text)) {
    yield 0.5 + (end - from) / charsPerUnit;
    from = end;
    if (name === undefined || found.has(name.toLowerCase())) continue;
    found.set(name.toLowerCase(), name);
    if (found.size === maxNames) break;
  }
  return found.values();
}

/** What looks like a mention. Code, and what is none after all, have no name. */
interface MentionToken {
  name?: string;
  /** Where its @ is, and where its name ends. */
  start: number;
  end: number;
}

/** Reads a text to its end for what looks like mentions, whether or not anyone has these names. */
export function* scanMentions(text: string): Generator<MentionToken, void, undefined> {
  for (const { 0: token, 1: run, index: start } of text.matchAll(tokenPattern)) {
    const end = start + token.length;
    const name = run === undefined || wordCharacter.test(text[end] ?? "") ? undefined : cutPunctuation(run);
    yield name === undefined ? { start, end } : { name, start, end: start + 1 + name.length };
  }
}

/** Names end with a letter or digit, so what follows belongs to the sentence. Returns undefined if it is too long. */
function cutPunctuation(run: string): string | undefined {
  let length = run.length;
  while (!lastLetter.test(run[length - 1] ?? "a")) length--;
  return length > maxNameChars ? undefined : run.slice(0, length);
}
