import { type FileContent, type FileInfo, foldPathCase } from "@thinkery/sdk";
import { type BlobPage, type BlobSource, readBlobPage } from "../store/blobs/blob-page.ts";
import { toBlobContent, type ContentInfo, type ContentWithInfo } from "./content.ts";

interface FileRow extends Record<string, SqlStorageValue> {
  path: string;
  hash: string;
  size: number;
  media_type: string;
  blob: string | null;
  version: number;
  modified_at: number;
}

const columns = "path, hash, size, media_type, blob, version, modified_at";

/** Number and total size of the files of a branch. */
export interface Totals {
  files: number;
  bytes: number;
  textBytes: number;
}

/** The current files of all branches. */
export class FileRows implements BlobSource {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  stat(branch: string, path: string): FileInfo | undefined {
    const [row] = this.#sql
      .exec<FileRow>(`SELECT ${columns} FROM files WHERE branch = ? AND path = ?`, branch, path)
      .toArray();
    return row && toFileInfo(row);
  }

  getContent(branch: string, path: string): FileContent | undefined {
    return this.getContentWithInfo(branch, path)?.content;
  }

  /** Also returns the number of patches since the file's last full copy. */
  getContentWithInfo(branch: string, path: string): (ContentWithInfo & { patchCount: number }) | undefined {
    const [row] = this.#sql
      .exec<FileRow & { content: string | null; patches: number }>(
        `SELECT ${columns}, content, patches FROM files WHERE branch = ? AND path = ?`,
        branch,
        path,
      )
      .toArray();
    return row && { content: toContent(row), info: toContentInfo(row), patchCount: row.patches };
  }

  /** Lists files ordered by path, optionally only those in a folder and those after a path. */
  list(
    branch: string,
    { under, after = "", limit = -1 }: { under?: string; after?: string; limit?: number } = {},
  ): FileInfo[] {
    const [from, to] = getPathRange(under);
    return this.#sql
      .exec<FileRow>(
        `SELECT ${columns} FROM files WHERE branch = ? AND path >= ? AND path < ? AND path > ? ORDER BY path LIMIT ?`,
        branch,
        from,
        to,
        after,
        limit,
      )
      .toArray()
      .map(toFileInfo);
  }

  /** Yields the files of a branch with their content, one at a time. */
  *iterateContents(branch: string): Generator<{ path: string; content: FileContent; info: FileInfo }> {
    for (const row of this.#sql.exec<FileRow & { content: string | null }>(
      `SELECT ${columns}, content FROM files WHERE branch = ? ORDER BY path`,
      branch,
    )) {
      yield { path: row.path, content: toContent(row), info: toFileInfo(row) };
    }
  }

  computeTotals(branch: string): Totals {
    return this.#sql
      .exec<{ files: number; bytes: number; textBytes: number }>(
        "SELECT count(*) AS files, coalesce(sum(size), 0) AS bytes, coalesce(sum(CASE WHEN blob IS NULL THEN size ELSE 0 END), 0) AS textBytes FROM files WHERE branch = ?",
        branch,
      )
      .one();
  }

  /** Yields the files that were written on branches since they were created, and what main has at their paths. */
  listAddedByBranches(): Iterable<{
    branch: string;
    path: string;
    hash: string;
    size: number;
    main_hash: string | null;
  }> {
    return this.#sql.exec<{ branch: string; path: string; hash: string; size: number; main_hash: string | null }>(
      `SELECT files.branch, files.path, files.hash, files.size, main.hash AS main_hash
       FROM branches JOIN files ON files.branch = branches.name AND files.version > branches.at
       LEFT JOIN files AS main ON main.branch = 'main' AND main.path = files.path`,
    );
  }

  listBlobs(after: number): BlobPage {
    return readBlobPage<{ id: number; blob: string | null; size: number }>(
      this.#sql,
      "SELECT id, blob, size FROM files WHERE id > ? ORDER BY id LIMIT ?",
      after,
      ({ blob, size }) => (blob === null ? [] : [{ hash: blob, size }]),
    );
  }

  put(
    branch: string,
    path: string,
    content: FileContent,
    { hash, size, mediaType }: ContentInfo,
    metadata: { version: number; at: number; patches: number },
  ): void {
    const [text, blob] = typeof content === "string" ? [content, null] : [null, content.blob];
    this.#sql.exec(
      `INSERT INTO files (branch, path, folded, hash, size, media_type, blob, version, modified_at, patches, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (branch, path) DO UPDATE SET hash = excluded.hash, size = excluded.size, media_type = excluded.media_type, blob = excluded.blob,
         version = excluded.version, modified_at = excluded.modified_at, patches = excluded.patches, content = excluded.content`,
      branch,
      path,
      foldPathCase(path),
      hash,
      size,
      mediaType,
      blob,
      metadata.version,
      metadata.at,
      metadata.patches,
      text,
    );
  }

  remove(branch: string, path: string): void {
    this.#sql.exec("DELETE FROM files WHERE branch = ? AND path = ?", branch, path);
  }

  removeAll(branch: string): void {
    this.#sql.exec("DELETE FROM files WHERE branch = ?", branch);
  }

  /** Copies the current files of a branch to another one. */
  copy(branch: string, to: string): void {
    this.#sql.exec(
      `INSERT INTO files (branch, path, folded, hash, size, media_type, blob, version, modified_at, patches, content)
       SELECT ?, path, folded, hash, size, media_type, blob, version, modified_at, patches, content FROM files WHERE branch = ?`,
      to,
      branch,
    );
  }

  /** Finds a file whose path differs only in case. */
  findCaseCollision(branch: string, path: string): string | undefined {
    const [row] = this.#sql
      .exec<{ path: string }>(
        "SELECT path FROM files WHERE branch = ? AND folded = ? AND path <> ?",
        branch,
        foldPathCase(path),
        path,
      )
      .toArray();
    return row?.path;
  }

  /** Yields the paths in a folder, ignoring the case of its name. */
  *listFolder(branch: string, folder: string): Generator<string> {
    const [from, to] = getPathRange(foldPathCase(folder));
    for (const { path } of this.#sql.exec<{ path: string }>(
      "SELECT path FROM files WHERE branch = ? AND folded >= ? AND folded < ?",
      branch,
      from,
      to,
    ))
      yield path;
  }
}

/** Returns bounds for the paths in a folder: at least the first, less than the second. */
export function getPathRange(folder: string | undefined): [string, string] {
  // U+10FFFF is a noncharacter and the last code point. “0” is the character after “/”.
  return folder ? [`${folder}/`, `${folder}0`] : ["", "\u{10ffff}"];
}

function toContent(row: FileRow & { content: string | null }): FileContent {
  return row.content ?? toBlobContent(toContentInfo(row));
}

function toContentInfo({ hash, size, media_type: mediaType, blob }: FileRow): ContentInfo {
  return { hash, size, mediaType, ...(blob === null ? {} : { blob }) };
}

function toFileInfo(row: FileRow): FileInfo {
  return {
    path: row.path,
    kind: row.blob === null ? "text" : "binary",
    size: row.size,
    mediaType: row.media_type,
    hash: row.hash,
    version: row.version,
    modifiedAt: new Date(row.modified_at).toISOString(),
  };
}
