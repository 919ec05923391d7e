import { fail, type FileContent, type FileInfo } from "@thinkery/sdk";
import type { Branches } from "./branches.ts";
import type { ContentInfo } from "./content.ts";
import type { FileRows } from "./file-rows.ts";
import type { History } from "./history.ts";

/** Orders paths by bytes, as SQLite does; JavaScript compares UTF-16 code units. */
const comparePaths = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Reads files as of an earlier version. */
export class HistoryReader {
  readonly #rows: FileRows;
  readonly #history: History;
  readonly #branches: Branches;

  constructor(rows: FileRows, history: History, branches: Branches) {
    this.#rows = rows;
    this.#history = history;
    this.#branches = branches;
  }

  /** Returns the latest version of a branch; 0 if nothing was ever written. */
  getLatest(branch: string): number {
    return this.#history.getLatest(branch) || (this.#branches.get(branch)?.at ?? 0);
  }

  /** Lists the files of a branch that changed after a version. Returns undefined if that is no longer known. */
  listChangedSince(branch: string, version: number): string[] | undefined {
    if (
      version < (this.#branches.get(branch)?.at ?? 0) ||
      version < this.#history.getOldest() - 1 ||
      version > this.#history.lastVersion
    )
      return undefined;
    return this.#history.changes.listPathsSince(branch, version);
  }

  /** Returns the branch that holds a version: the history from before a branch was created is in its parent. */
  resolveBranch(branch: string, version: number): string {
    const row = this.#branches.get(branch);
    return row && version <= row.at ? this.resolveBranch(row.parent, version) : branch;
  }

  getContent(branch: string, path: string, version: number): FileContent | undefined {
    const owner = this.resolveBranch(branch, version);
    this.checkAvailable(version);
    const row = this.#history.changes.findFirstAfter(owner, path, version);
    const getCurrent = () => this.#rows.getContent(owner, path);
    return row ? this.#history.changes.getContentBefore(row, getCurrent) : getCurrent();
  }

  stat(branch: string, path: string, version: number): FileInfo | undefined {
    const owner = this.resolveBranch(branch, version);
    this.checkAvailable(version);
    const row = this.#history.changes.findFirstAfter(owner, path, version);
    if (!row) return this.#rows.stat(owner, path);
    return row.before && this.#toFileInfo(owner, path, row.before, version);
  }

  #toFileInfo(branch: string, path: string, { hash, size, mediaType, blob }: ContentInfo, version: number): FileInfo {
    const last = this.#history.changes.findLastUpTo(branch, path, version);
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

  /** Lists files ordered by path, optionally only those in a folder and those after a path. */
  list(
    branch: string,
    version: number,
    { under, after = "", limit = Number.POSITIVE_INFINITY }: { under?: string; after?: string; limit?: number },
  ): FileInfo[] {
    const owner = this.resolveBranch(branch, version);
    this.checkAvailable(version);
    const unchanged = this.#rows.list(owner, { ...(under === undefined ? {} : { under }), after });
    const changed = this.#history.changes.listContentsAt(owner, version, { under, after });
    const isChanged = new Set(changed.map(({ path }) => path));
    return mergeByPath(
      unchanged.filter(({ path }) => !isChanged.has(path)),
      changed.filter(({ info }) => info !== undefined),
    )
      .slice(0, limit)
      .map((file) => ("info" in file ? this.#toFileInfo(owner, file.path, file.info as ContentInfo, version) : file));
  }

  /** Throws if a version does not exist or was deleted. */
  checkAvailable(version: number): void {
    const oldest = this.#history.getOldest();
    if (version < oldest - 1)
      throw fail("not_found", `Version ${version} is no longer available. The oldest available version is ${oldest}.`);
    if (version > this.#history.lastVersion) throw fail("not_found", `There is no version ${version}.`);
  }

  /** Returns the paths whose current content on a branch differs from a version of another branch. */
  listDiffering(branch: string, baseBranch: string, baseVersion: number): Set<string> {
    const baseHashes = this.listHashes(baseBranch, baseVersion);
    const differing = new Set(baseHashes.keys());
    for (const { path, hash } of this.#rows.list(branch)) {
      if (baseHashes.get(path) === hash) differing.delete(path);
      else differing.add(path);
    }
    return differing;
  }

  /** Returns the hashes of a branch's files, or only of those in a folder, by path. */
  listHashes(branch: string, version: number, under?: string): Map<string, string> {
    const owner = this.resolveBranch(branch, version);
    this.checkAvailable(version);
    const files = this.#rows.list(owner, under === undefined ? {} : { under });
    const hashes = new Map(files.map(({ path, hash }) => [path, hash]));
    for (const { path, info } of this.#history.changes.listContentsAt(owner, version, { under })) {
      if (info) hashes.set(path, info.hash);
      else hashes.delete(path);
    }
    return hashes;
  }
}

/** Merges two lists that are ordered by path. */
function mergeByPath<A extends { path: string }, B extends { path: string }>(a: A[], b: B[]): (A | B)[] {
  const merged: (A | B)[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length;) {
    const [first, second] = [a[i], b[j]];
    const isFirst = first !== undefined && (second === undefined || comparePaths(first.path, second.path) < 0);
    merged.push((isFirst ? first : second) as A | B);
    if (isFirst) i++;
    else j++;
  }
  return merged;
}
