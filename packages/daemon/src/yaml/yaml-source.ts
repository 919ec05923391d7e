import { fail, type ValidationIssue } from "@thinkery/sdk";
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
} from "yaml";

type Path = ValidationIssue["path"];

export interface SyntaxIssue {
  message: string;
  offset: number;
}

/** A key that its map has already. */
export interface DuplicateKey {
  path: Path;
  offset: number;
  firstOffset: number;
}

interface YamlSourceOptions {
  /** Parses maps with duplicate keys, to report them with their paths (`findDuplicates`). */
  allowsDuplicates?: boolean;
}

/** The text of a YAML or JSON file with the places of its values. Throws if it is nested too deeply. */
export class YamlSource {
  readonly file: string;
  readonly text: string;
  readonly syntaxIssues: readonly SyntaxIssue[];
  private readonly document: Document;
  private readonly lines = new LineCounter();

  /** `file` is its name in error messages. */
  constructor(file: string, text: string, { allowsDuplicates = false }: YamlSourceOptions = {}) {
    this.file = file;
    this.text = text.replace(/^\uFEFF/, "");
    this.document = this.parse(!allowsDuplicates);
    const issues = this.document.errors.map(({ code, message, pos }) => ({
      message: describeSyntaxError(code, message),
      offset: pos[0],
    }));
    // One mistake often causes several errors at its place.
    this.syntaxIssues = [...new Map(issues.toReversed().map((issue) => [issue.offset, issue])).values()].toReversed();
  }

  toValue(): unknown {
    try {
      return this.document.toJS({ maxAliasCount: 100 });
    } catch {
      throw fail("bad_request", `${this.file} has too many aliases, or an alias without an anchor.`);
    }
  }

  formatPosition(offset: number): string {
    const { line, col } = this.lines.linePos(offset);
    return `line ${line}, column ${col}`;
  }

  /** Returns where a value is. For a missing one, returns the offset of its closest existing parent. */
  findOffset(path: Path): number {
    for (let length = path.length; length >= 0; length--) {
      const node = this.findNode(path.slice(0, length));
      if (isNode(node) && node.range) return node.range[0];
    }
    return 0;
  }

  /** Returns where the last key of a path is; if there is no such key, the offset of its value. */
  findKeyOffset(path: Path): number {
    const parent = this.findNode(path.slice(0, -1));
    const pair = isMap(parent) ? parent.items.find((item) => readKey(item) === String(path.at(-1))) : undefined;
    return pair && isNode(pair.key) && pair.key.range ? pair.key.range[0] : this.findOffset(path);
  }

  /** Returns where a part of a text is in the file: the occurrence with this index. */
  findTextOffset(path: Path, part: string, index = 0): number {
    const node = this.findNode(path);
    if (!isScalar(node) || !node.range || typeof node.value !== "string") return this.findOffset(path);
    const [start, end] = node.range;
    const before = this.text.slice(start, end).split(part);
    // An escaped text may be spelled in another way.
    if (before.length !== node.value.split(part).length || before.length < index + 2) return start;
    return start + before.slice(0, index + 1).join(part).length;
  }

  /** Finds keys that a map has more than once. */
  findDuplicates(): DuplicateKey[] {
    const found: DuplicateKey[] = [];
    const visit = (node: unknown, path: Path): void => {
      if (isSeq(node)) return node.items.forEach((item, index) => visit(item, [...path, index]));
      if (!isMap(node)) return;
      const offsets = new Map<string, number>();
      for (const pair of node.items) {
        const key = readKey(pair);
        const offset = isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0;
        if (key === undefined) continue;
        const firstOffset = offsets.get(key);
        if (firstOffset === undefined) offsets.set(key, offset);
        else found.push({ path: [...path, key], offset, firstOffset });
        visit(pair.value, [...path, key]);
      }
    };
    visit(this.document.contents, []);
    return found;
  }

  private findNode(path: Path): unknown {
    const node = path.length === 0 ? this.document.contents : this.document.getIn(path, true);
    return isAlias(node) ? node.resolve(this.document) : node;
  }

  // prettyErrors off: a message must not quote the file, which may contain secrets.
  private parse(uniqueKeys: boolean): Document {
    try {
      const document = parseDocument(this.text, { lineCounter: this.lines, prettyErrors: false, uniqueKeys });
      if (!document.errors.some(({ message }) => /call stack/i.test(message))) return document;
    } catch {
      // The same, thrown.
    }
    throw fail("bad_request", `${this.file} is nested too deeply.`);
  }
}

const readKey = (pair: unknown) =>
  isPair(pair) && isScalar((pair as Pair).key) ? String((pair.key as { value: unknown }).value) : undefined;

const syntaxAdvice: Readonly<Record<string, string>> = {
  BAD_SCALAR_START: "put the text in quotes",
  BLOCK_AS_IMPLICIT_KEY: "put text that contains “: ” in quotes",
};

function describeSyntaxError(code: string, message: string): string {
  if (code === "MULTIPLE_DOCS") return "more than one document; remove what follows “---”";
  const [first = "", ...rest] = (message.split("\n")[0] ?? "").replace(/\.$/, "");
  const advice = syntaxAdvice[code];
  return first.toLowerCase() + rest.join("") + (advice ? `; ${advice}` : "");
}
