import type { Change, FileContent, TextPatch } from "@thinkery/sdk";
import type { Work } from "../host/fair-work.ts";
import { type BlobPage, type BlobSource, readBlobPage } from "../store/blobs/blob-page.ts";
import { toBlobContent, type ContentInfo } from "./content.ts";
import { getPathRange } from "./file-rows.ts";
import type { Step } from "./step.ts";
import { maxPatchChars } from "./stored-bytes.ts";
import { TextCopies } from "./text-copies.ts";
import { revertPatch } from "./text/patch.ts";

export interface ChangeRow {
  version: number;
  branch: string;
  path: string;
  kind: Step["kind"];
  other: string | null;
  before: ContentInfo | undefined;
  after: ContentInfo | undefined;
  patch: TextPatch | undefined;
  /** Hashes of the full copies stored with this change. */
  copies: { before: string | null; after: string | null };
}

interface StoredChange extends Record<string, SqlStorageValue> {
  version: number;
  branch: string;
  path: string;
  kind: Step["kind"];
  other: string | null;
  before: string | null;
  after: string | null;
  before_copy: string | null;
  after_copy: string | null;
  patch: string | null;
}

const pageSize = 200;

/** The changes of every version, and the file contents before and after each. */
export class ChangeLog implements BlobSource {
  readonly #sql: SqlStorage;
  readonly #copies: TextCopies;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#copies = new TextCopies(sql);
  }

  /** Records a change. `withCopy` also stores the text before it in full, which bounds the walk to older texts. */
  record(version: number, branch: string, step: Step, withCopy: boolean): void {
    const { path, kind, other, before, after } = step;
    const json = step.patch && JSON.stringify(step.patch);
    const patch = json !== undefined && json.length <= maxPatchChars ? json : undefined;
    // Without a patch, neither text can be derived from the other.
    const beforeCopy = patch === undefined || withCopy ? this.#copies.put(before) : null;
    const afterCopy = patch === undefined ? this.#copies.put(after) : null;
    this.#sql.exec(
      `INSERT OR REPLACE INTO changes (version, branch, path, kind, other, before, after, before_copy, after_copy, patch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      version,
      branch,
      path,
      kind,
      other ?? null,
      before ? JSON.stringify(before.info) : null,
      after ? JSON.stringify(after.info) : null,
      beforeCopy,
      afterCopy,
      patch ?? null,
    );
  }

  /** Replaces an earlier change of the same file and version. Deletes it if the two cancel each other out. */
  replace({ version, branch, path, copies }: ChangeRow, step: Step | undefined): void {
    if (step) this.record(version, branch, step, copies.before !== null);
    else this.#sql.exec("DELETE FROM changes WHERE version = ? AND path = ?", version, path);
    for (const hash of [copies.before, copies.after]) if (hash !== null) this.#copies.dropUnused(hash);
  }

  get(version: number, path: string): ChangeRow | undefined {
    return this.#select("version = ? AND path = ?", version, path)[0];
  }

  /** Yields the changes of a version, optionally only those of a file or folder, ordered by path. Reads a page at a time. */
  *iterate(version: number, path?: string): Generator<ChangeRow> {
    const [from, to] = getPathRange(path);
    for (let page: ChangeRow[] | undefined; !page || page.length === pageSize;) {
      page = this.#select(
        "version = ? AND (path = ? OR path >= ? AND path < ?) AND path > ? ORDER BY path LIMIT ?",
        version,
        path ?? null,
        from,
        to,
        page?.at(-1)?.path ?? "",
        pageSize,
      );
      yield* page;
    }
  }

  /** Lists the first changes of a version as clients see them, and counts those beyond the limit. */
  summarize(version: number, limit: number): { changes: Change[]; more: number } {
    const rows = this.#sql
      .exec<{ path: string; kind: Change["kind"]; other: string | null }>(
        "SELECT path, kind, other FROM changes WHERE version = ? AND kind <> 'moved' ORDER BY path LIMIT ?",
        version,
        limit,
      )
      .toArray();
    const more =
      rows.length < limit
        ? 0
        : this.#sql
            .exec<{ count: number }>(
              "SELECT count(*) AS count FROM changes WHERE version = ? AND kind <> 'moved'",
              version,
            )
            .one().count - rows.length;
    const changes = rows.map(({ path, kind, other }) => ({ path, kind, ...(other === null ? {} : { from: other }) }));
    return { changes, more };
  }

  /** Lists the files of a branch that changed after a version. */
  listPathsSince(branch: string, version: number): string[] {
    return this.#sql
      .exec<{ path: string }>(
        "SELECT DISTINCT path FROM changes WHERE branch = ? AND version > ? ORDER BY path",
        branch,
        version,
      )
      .toArray()
      .map(({ path }) => path);
  }

  /** Finds the first change of a file after a version: its content before that change is its content at the version. */
  findFirstAfter(branch: string, path: string, version: number): ChangeRow | undefined {
    return this.#select("branch = ? AND path = ? AND version > ? ORDER BY version LIMIT 1", branch, path, version)[0];
  }

  /** Lists, by path, what files that changed after a version were at that version; undefined if they did not exist. */
  listContentsAt(
    branch: string,
    version: number,
    { under, after = "" }: { under?: string | undefined; after?: string | undefined } = {},
  ): { path: string; info: ContentInfo | undefined }[] {
    const [from, to] = getPathRange(under);
    return this.#sql
      .exec<{ path: string; before: string | null; first: number }>(
        "SELECT path, before, min(version) AS first FROM changes WHERE branch = ? AND path >= ? AND path < ? AND path > ? AND version > ? GROUP BY path ORDER BY path",
        branch,
        from,
        to,
        after,
        version,
      )
      .toArray()
      .map(({ path, before }) => ({
        path,
        info: before === null ? undefined : (JSON.parse(before) as ContentInfo),
      }));
  }

  findLastUpTo(branch: string, path: string, version: number): { version: number; at: number } | undefined {
    return this.#sql
      .exec<{ version: number; at: number }>(
        "SELECT version, until AS at FROM changes JOIN versions ON id = version WHERE changes.branch = ? AND path = ? AND version <= ? ORDER BY version DESC LIMIT 1",
        branch,
        path,
        version,
      )
      .toArray()[0];
  }

  /** Follows the moves of a file since a version and returns its current path. */
  *resolveMove(branch: string, path: string, version: number): Work<string> {
    for (let last = { path, version }; ;) {
      const [next] = this.#sql
        .exec<{ path: string; version: number }>(
          "SELECT path, version FROM changes WHERE branch = ? AND other = ? AND kind = 'move' AND version > ? ORDER BY version LIMIT 1",
          branch,
          last.path,
          last.version,
        )
        .toArray();
      if (!next) return last.path;
      last = next;
      yield 15;
    }
  }

  /** Returns the content of the file before a change. `getCurrent` returns its current content. */
  getContentBefore(row: ChangeRow, getCurrent: () => FileContent | undefined): FileContent | undefined {
    if (!row.before || row.before.blob !== undefined) return row.before && toBlobContent(row.before);
    return this.#copies.getText(row.before.hash) ?? revertPatch(this.#getTextAfter(row, getCurrent), requirePatch(row));
  }

  getContentAfter(row: ChangeRow, getCurrent: () => FileContent | undefined): FileContent | undefined {
    if (!row.after || row.after.blob !== undefined) return row.after && toBlobContent(row.after);
    return this.#getTextAfter(row, getCurrent);
  }

  listBlobs(after: number): BlobPage {
    return readBlobPage<{ id: number; before: string | null; after: string | null }>(
      this.#sql,
      "SELECT rowid AS id, before, after FROM changes WHERE rowid > ? ORDER BY rowid LIMIT ?",
      after,
      (row) =>
        [row.before, row.after].flatMap((json) => {
          const { blob, size = 0 } = json?.includes('"blob"') ? (JSON.parse(json) as ContentInfo) : {};
          return blob === undefined ? [] : [{ hash: blob, size }];
        }),
    );
  }

  /** Deletes the changes of all versions up to this one. */
  forget(upTo: number): void {
    this.#copies.dropUnusedAfter("version <= ?", upTo);
    this.#sql.exec("DELETE FROM changes WHERE version <= ?", upTo);
  }

  forgetBranch(branch: string): void {
    this.#copies.dropUnusedAfter("branch = ?", branch);
    this.#sql.exec("DELETE FROM changes WHERE branch = ?", branch);
  }

  /** Walks forward to the next full copy, or to the current text, and reverts the patches back from there. */
  #getTextAfter(row: ChangeRow, getCurrent: () => FileContent | undefined): string {
    const passed: ChangeRow[] = [];
    let last: ChangeRow = row;
    let text = this.#copies.getText(last.after?.hash);
    while (text === undefined) {
      const next = this.findFirstAfter(last.branch, last.path, last.version);
      text = next ? this.#copies.getText(next.before?.hash) : (getCurrent() as string);
      if (text !== undefined || !next) break;
      passed.push(next);
      last = next;
      text = this.#copies.getText(last.after?.hash);
    }
    for (const change of passed.toReversed()) text = revertPatch(text as string, requirePatch(change));
    return text as string;
  }

  #select(where: string, ...values: SqlStorageValue[]): ChangeRow[] {
    return this.#sql
      .exec<StoredChange>(`SELECT * FROM changes WHERE ${where}`, ...values)
      .toArray()
      .map(({ before_copy: beforeCopy, after_copy: afterCopy, ...row }) => ({
        ...row,
        copies: { before: beforeCopy, after: afterCopy },
        before: row.before === null ? undefined : (JSON.parse(row.before) as ContentInfo),
        after: row.after === null ? undefined : (JSON.parse(row.after) as ContentInfo),
        patch: row.patch === null ? undefined : (JSON.parse(row.patch) as TextPatch),
      }));
  }
}

function requirePatch({ patch, version, path }: ChangeRow): TextPatch {
  if (!patch) throw new Error(`version ${version} has no patch for ${path}`);
  return patch;
}
