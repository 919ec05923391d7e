import type { Change, FileContent, Origin, TextPatch, Version, VersionQuery } from "@thinkery/sdk";
import { toBlobContent, type ContentInfo } from "./content.ts";
import { Copies } from "./copies.ts";
import { getPathRange } from "./file-rows.ts";
import type { Step } from "./step.ts";
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
  /** The hashes of the copies that were made for it. */
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

interface VersionRow extends Record<string, SqlStorageValue> {
  id: number;
  branch: string;
  at: number;
  until: number;
  joins: number;
  origin: string;
  reverts: string | null;
  merges: string | null;
}

interface NewVersion {
  id: number;
  branch: string;
  at: number;
  joins: boolean;
  origin: Origin;
  key?: string | undefined;
  reverts?: readonly number[] | undefined;
  merges?: string | undefined;
}

/** Longer ones are not worth it: both texts are kept in full. */
const maxPatchChars = 256 * 1024;
/** A version tells so many of its changes; all of them are there for whoever asks for its diff. */
const maxListedChanges = 100;

/** How one's typing becomes versions: joined while it goes on, but not for ever. */
const typing = { pauseMs: 10_000, mostMs: 60_000 };

/** All versions of all branches, and what each changed. */
export class History {
  readonly #sql: SqlStorage;
  readonly #copies: Copies;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.#copies = new Copies(sql);
  }

  /** The latest version of any branch. */
  get lastVersion(): number {
    return this.#sql.exec<{ last: number | null }>("SELECT max(id) AS last FROM versions").one().last ?? 0;
  }

  getLatest(branch: string): number {
    return (
      this.#sql.exec<{ last: number | null }>("SELECT max(id) AS last FROM versions WHERE branch = ?", branch).one()
        .last ?? 0
    );
  }

  /** The last version of a branch that an event of the log, or one before it, tells of. */
  findVersionAtEvent(event: number, branch: string): number {
    return (
      this.#sql
        .exec<{ id: number | null }>(
          "SELECT max(id) AS id FROM versions WHERE branch = ? AND event <= ?",
          branch,
          event,
        )
        .one().id ?? 0
    );
  }

  getOldest(): number {
    return this.#sql.exec<{ first: number | null }>("SELECT min(id) AS first FROM versions").one().first ?? 0;
  }

  /** The version that this user's next keystroke belongs to, if they are at it. */
  findTypingVersion(branch: string, user: string | undefined, now: number, known: number): number | undefined {
    const [row] = this.#sql
      .exec<VersionRow>("SELECT * FROM versions WHERE id = (SELECT max(id) FROM versions)")
      .toArray();
    if (!row || row.id <= known || row.joins === 0 || row.branch !== branch) return undefined;
    if (now < row.until || now - row.until > typing.pauseMs || now - row.at > typing.mostMs) return undefined;
    return (JSON.parse(row.origin) as Origin).user === user ? row.id : undefined;
  }

  add(version: NewVersion): void {
    const { id, branch, at, joins, origin, key, reverts, merges } = version;
    this.#sql.exec(
      "INSERT INTO versions (id, branch, at, until, joins, turn, tool_call, origin, key, reverts, merges) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      id,
      branch,
      at,
      at,
      joins ? 1 : 0,
      origin.turn ?? null,
      origin.toolCall ?? null,
      JSON.stringify(origin),
      key ?? null,
      reverts ? JSON.stringify(reverts) : null,
      merges ?? null,
    );
  }

  /** More belongs to a version that is already there. */
  extend(id: number, now: number): void {
    this.#sql.exec("UPDATE versions SET until = ? WHERE id = ?", now, id);
  }

  /** Notes a change. With `whole`, a copy of the text before is kept, so that nobody has to go far to find it again. */
  recordChange(version: number, branch: string, step: Step, whole: boolean): void {
    const { path, kind, other, before, after } = step;
    const json = step.patch && JSON.stringify(step.patch);
    const patch = json !== undefined && json.length <= maxPatchChars ? json : undefined;
    // Without a patch, neither can be found from the other.
    const beforeCopy = patch === undefined || whole ? this.#copies.put(before) : null;
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

  /** Notes a change in place of an earlier one of the same file and version, or nothing where both came to nothing. */
  replaceChange({ version, branch, path, copies }: ChangeRow, step: Step | undefined): void {
    if (step) this.recordChange(version, branch, step, copies.before !== null);
    else this.#sql.exec("DELETE FROM changes WHERE version = ? AND path = ?", version, path);
    for (const hash of [copies.before, copies.after]) if (hash !== null) this.#copies.dropUnused(hash);
  }

  getChange(version: number, path: string): ChangeRow | undefined {
    return this.#selectChanges("version = ? AND path = ?", version, path)[0];
  }

  /** The changes of a version, those of one file, or of one folder. */
  listChanges(version: number, path?: string, limit = -1): ChangeRow[] {
    if (path === undefined) return this.#selectChanges("version = ? ORDER BY path LIMIT ?", version, limit);
    const [from, to] = getPathRange(path);
    return this.#selectChanges(
      "version = ? AND (path = ? OR path >= ? AND path < ?) ORDER BY path LIMIT ?",
      version,
      path,
      from,
      to,
      limit,
    );
  }

  /** Which files of a branch are other than they were then. */
  listChangedSince(branch: string, version: number): string[] {
    return this.#sql
      .exec<{ path: string }>(
        "SELECT DISTINCT path FROM changes WHERE branch = ? AND version > ? ORDER BY path",
        branch,
        version,
      )
      .toArray()
      .map(({ path }) => path);
  }

  /** The first change of a file after a version; what it was before that is what it was then. */
  findFirstChangeAfter(branch: string, path: string, version: number): ChangeRow | undefined {
    return this.#selectChanges(
      "branch = ? AND path = ? AND version > ? ORDER BY version LIMIT 1",
      branch,
      path,
      version,
    )[0];
  }

  /** Where a file has gone that was at a path at a version, as far as it was moved since. */
  resolveMove(branch: string, path: string, version: number): string {
    const [next] = this.#sql
      .exec<{ path: string; version: number }>(
        "SELECT path, version FROM changes WHERE branch = ? AND other = ? AND kind = 'move' AND version > ? ORDER BY version LIMIT 1",
        branch,
        path,
        version,
      )
      .toArray();
    return next ? this.resolveMove(branch, next.path, next.version) : path;
  }

  findLastChangeUpTo(branch: string, path: string, version: number): { version: number; at: number } | undefined {
    return this.#sql
      .exec<{ version: number; at: number }>(
        "SELECT version, until AS at FROM changes JOIN versions ON id = version WHERE changes.branch = ? AND path = ? AND version <= ? ORDER BY version DESC LIMIT 1",
        branch,
        path,
        version,
      )
      .toArray()[0];
  }

  /** What the file was before a change. `now` is what it is today. */
  getContentBefore(row: ChangeRow, now: () => FileContent | undefined): FileContent | undefined {
    if (!row.before || row.before.blob !== undefined) return row.before && toBlobContent(row.before);
    return this.#copies.getText(row.before.hash) ?? revertPatch(this.#getTextAfter(row, now), requirePatch(row));
  }

  getContentAfter(row: ChangeRow, now: () => FileContent | undefined): FileContent | undefined {
    if (!row.after || row.after.blob !== undefined) return row.after && toBlobContent(row.after);
    return this.#getTextAfter(row, now);
  }

  /** Walks to the next copy, or to today, and back from there. */
  #getTextAfter(row: ChangeRow, now: () => FileContent | undefined): string {
    const back: ChangeRow[] = [];
    let at: ChangeRow = row;
    let text = this.#copies.getText(at.after?.hash);
    while (text === undefined) {
      const next = this.findFirstChangeAfter(at.branch, at.path, at.version);
      text = next ? this.#copies.getText(next.before?.hash) : (now() as string);
      if (text !== undefined || !next) break;
      back.push(next);
      at = next;
      text = this.#copies.getText(at.after?.hash);
    }
    for (const passed of back.toReversed()) text = revertPatch(text as string, requirePatch(passed));
    return text as string;
  }

  list({ branch, path, turn, toolCall, before, limit }: VersionQuery & { branch: string }): Version[] {
    const where = ["branch = ?"];
    const values: SqlStorageValue[] = [branch];
    const add = (condition: string, ...given: SqlStorageValue[]) => {
      where.push(condition);
      values.push(...given);
    };
    if (turn !== undefined) add("turn = ?", turn);
    if (toolCall !== undefined) add("tool_call = ?", toolCall);
    if (before !== undefined) add("id < ?", before);
    if (path !== undefined)
      add(
        "id IN (SELECT version FROM changes WHERE branch = ? AND path = ? UNION ALL SELECT version FROM changes WHERE branch = ? AND path >= ? AND path < ?)",
        branch,
        path,
        branch,
        ...getPathRange(path),
      );
    const rows = this.#sql.exec<VersionRow>(
      `SELECT * FROM versions WHERE ${where.join(" AND ")} ORDER BY id DESC LIMIT ?`,
      ...values,
      limit,
    );
    return rows.toArray().map((row) => this.#toVersion(row));
  }

  getVersion(id: number): Version | undefined {
    const [row] = this.#sql.exec<VersionRow>("SELECT * FROM versions WHERE id = ?", id).toArray();
    return row && this.#toVersion(row);
  }

  findByKey(key: string): Version | undefined {
    const [row] = this.#sql.exec<VersionRow>("SELECT * FROM versions WHERE key = ?", key).toArray();
    return row && this.#toVersion(row);
  }

  getBranch(id: number): string | undefined {
    return this.#sql.exec<{ branch: string }>("SELECT branch FROM versions WHERE id = ?", id).toArray()[0]?.branch;
  }

  /** How many versions a branch has after one. */
  countAfter(branch: string, version: number): number {
    return this.#sql
      .exec<{ count: number }>("SELECT count(*) AS count FROM versions WHERE branch = ? AND id > ?", branch, version)
      .one().count;
  }

  /** The last version up to which all are older than a time, or up to which there are so many newer ones. A clock may have been wrong for a while. */
  computeCutoff(before: number | undefined, keep: number | undefined): number {
    const kept =
      before === undefined
        ? 1
        : (this.#sql.exec<{ id: number | null }>("SELECT min(id) AS id FROM versions WHERE until >= ?", before).one()
            .id ?? this.lastVersion + 1);
    const byTime = kept - 1;
    const byCount =
      keep === undefined
        ? 0
        : (this.#sql
            .exec<{ id: number }>("SELECT id FROM versions ORDER BY id DESC LIMIT 1 OFFSET ?", keep)
            .toArray()[0]?.id ?? 0);
    return Math.max(byTime, byCount);
  }

  /** Drops everything up to a version, but for the very latest one: numbers are never given twice. */
  forget(upTo: number): number {
    const dropped = this.#sql
      .exec<{ count: number }>(
        "SELECT count(*) AS count FROM versions WHERE id <= ? AND id < ?",
        upTo,
        this.lastVersion,
      )
      .one().count;
    if (dropped === 0) return 0;
    const last = Math.min(upTo, this.lastVersion - 1);
    this.#sql.exec("DELETE FROM changes WHERE version <= ?", last);
    this.#sql.exec("DELETE FROM versions WHERE id <= ?", last);
    this.#copies.dropUnused();
    return dropped;
  }

  forgetBranch(branch: string): void {
    this.#sql.exec("DELETE FROM changes WHERE branch = ?", branch);
    this.#sql.exec("DELETE FROM versions WHERE branch = ? AND id < (SELECT max(id) FROM versions)", branch);
    this.#copies.dropUnused();
  }

  #toVersion({ id, branch, until, origin, reverts, merges }: VersionRow): Version {
    const rows = this.#sql
      .exec<{ path: string; kind: Change["kind"]; other: string | null }>(
        "SELECT path, kind, other FROM changes WHERE version = ? AND kind <> 'moved' ORDER BY path LIMIT ?",
        id,
        maxListedChanges,
      )
      .toArray();
    const more =
      rows.length < maxListedChanges
        ? 0
        : this.#sql
            .exec<{ count: number }>("SELECT count(*) AS count FROM changes WHERE version = ? AND kind <> 'moved'", id)
            .one().count - rows.length;
    return {
      id,
      at: new Date(until).toISOString(),
      origin: { ...(JSON.parse(origin) as Origin), ...(branch === "main" ? {} : { branch }) },
      changes: rows.map(({ path, kind, other }) => ({ path, kind, ...(other === null ? {} : { from: other }) })),
      ...(more > 0 ? { more } : {}),
      ...(reverts === null ? {} : { reverts: JSON.parse(reverts) as number[] }),
      ...(merges === null ? {} : { merges }),
    };
  }

  #selectChanges(where: string, ...values: SqlStorageValue[]): ChangeRow[] {
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
  if (!patch) throw new Error(`version ${version} does not say how it changed ${path}`);
  return patch;
}
