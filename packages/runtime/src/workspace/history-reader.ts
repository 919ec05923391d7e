import { fail, type FileContent, type FileInfo } from "@thinkery/sdk";
import type { Branches } from "./branches.ts";
import type { FileRows } from "./file-rows.ts";
import type { History } from "./history.ts";

/** As SQLite orders them: by bytes, where the language compares by halves of characters. */
const comparePaths = (path: string, other: string) => Buffer.compare(Buffer.from(path), Buffer.from(other));

/** The files as they were. */
export class HistoryReader {
  readonly #rows: FileRows;
  readonly #history: History;
  readonly #branches: Branches;

  constructor(rows: FileRows, history: History, branches: Branches) {
    this.#rows = rows;
    this.#history = history;
    this.#branches = branches;
  }

  /** The latest version of a branch; 0 while nothing was ever written. */
  getLatest(branch: string): number {
    return this.#history.getLatest(branch) || (this.#branches.get(branch)?.at ?? 0);
  }

  /** Which files of a branch are other than they were at a version; nothing where that is not known any more. */
  listChangedSince(branch: string, version: number): string[] | undefined {
    if (
      version < (this.#branches.get(branch)?.at ?? 0) ||
      version < this.#history.getOldest() - 1 ||
      version > this.#history.lastVersion
    )
      return undefined;
    return this.#history.listChangedSince(branch, version);
  }

  /** Where a branch was made from is read there: it has no history of its own before that. */
  resolveBranch(branch: string, version: number): string {
    const row = this.#branches.get(branch);
    return row && version <= row.at ? this.resolveBranch(row.parent, version) : branch;
  }

  getContent(branch: string, path: string, version: number): FileContent | undefined {
    const home = this.resolveBranch(branch, version);
    this.checkKept(version);
    const row = this.#history.findFirstChangeAfter(home, path, version);
    const now = () => this.#rows.getContent(home, path);
    return row ? this.#history.getContentBefore(row, now) : now();
  }

  stat(branch: string, path: string, version: number): FileInfo | undefined {
    const home = this.resolveBranch(branch, version);
    this.checkKept(version);
    const row = this.#history.findFirstChangeAfter(home, path, version);
    if (!row) return this.#rows.stat(home, path);
    if (!row.before) return undefined;
    const { hash, size, mediaType, blob } = row.before;
    const last = this.#history.findLastChangeUpTo(home, path, version);
    return {
      path,
      kind: blob === undefined ? "text" : "binary",
      size,
      mediaType,
      hash,
      version: last?.version ?? version,
      modifiedAt: new Date(last?.at ?? 0).toISOString(),
    };
  }

  list(branch: string, version: number, { under, after = "" }: { under?: string; after?: string }): FileInfo[] {
    const home = this.resolveBranch(branch, version);
    this.checkKept(version);
    const isWanted = (path: string) =>
      comparePaths(path, after) > 0 && (under === undefined || path.startsWith(`${under}/`));
    const since = new Set(this.#history.listChangedSince(home, version).filter(isWanted));
    const now = this.#rows
      .list(home, { ...(under === undefined ? {} : { under }), after })
      .filter(({ path }) => !since.has(path));
    const then = [...since].flatMap((path) => this.stat(home, path, version) ?? []);
    return [...now, ...then].sort((a, b) => comparePaths(a.path, b.path));
  }

  checkKept(version: number): void {
    const oldest = this.#history.getOldest();
    if (version < oldest - 1)
      throw fail("not_found", `Version ${version} is not kept any more; the oldest one is ${oldest}.`);
    if (version > this.#history.lastVersion) throw fail("not_found", `There is no version ${version}.`);
  }

  /** Files of a branch that are other than in another one at a version. */
  listDiffering(branch: string, baseBranch: string, baseVersion: number): Set<string> {
    const then = new Map(this.list(baseBranch, baseVersion, {}).map(({ path, hash }) => [path, hash]));
    const differing = new Set(then.keys());
    for (const { path, hash } of this.#rows.list(branch)) {
      if (then.get(path) === hash) differing.delete(path);
      else differing.add(path);
    }
    return differing;
  }
}
