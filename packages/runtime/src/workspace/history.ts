import type { Origin, Version, VersionQuery } from "@thinkery/sdk";
import { ChangeLog } from "./change-log.ts";
import { getPathRange } from "./file-rows.ts";

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

/** Maximum changes listed per version. A version's diff has all of them. */
const maxListedChanges = 100;

/** A user's typing extends the same version until they pause this long, or the version is this old. */
const typingLimits = { maxPauseMs: 10_000, maxDurationMs: 60_000 };

/** The versions of all branches. */
export class History {
  readonly changes: ChangeLog;
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    this.changes = new ChangeLog(sql);
  }

  /** The latest version across all branches. */
  get lastVersion(): number {
    return this.#sql.exec<{ last: number | null }>("SELECT max(id) AS last FROM versions").one().last ?? 0;
  }

  getLatest(branch: string): number {
    return (
      this.#sql.exec<{ last: number | null }>("SELECT max(id) AS last FROM versions WHERE branch = ?", branch).one()
        .last ?? 0
    );
  }

  /** Finds the last version of a branch that was recorded by this event of the log or an earlier one. */
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

  /** Finds the version that this user's next keystroke extends, unless a client may know it already (`lastKnown`). */
  findTypingVersion(branch: string, user: string | undefined, now: number, lastKnown: number): number | undefined {
    const [row] = this.#sql
      .exec<VersionRow>("SELECT * FROM versions WHERE id = (SELECT max(id) FROM versions)")
      .toArray();
    if (!row || row.id <= lastKnown || row.joins === 0 || row.branch !== branch) return undefined;
    const { maxPauseMs, maxDurationMs } = typingLimits;
    if (now < row.until || now - row.until > maxPauseMs || now - row.at > maxDurationMs) return undefined;
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

  /** Extends an existing version up to now. */
  extend(id: number, now: number): void {
    this.#sql.exec("UPDATE versions SET until = ? WHERE id = ?", now, id);
  }

  /** Lists the versions of a turn or tool call, latest first. */
  listIds({
    branch,
    turn,
    toolCall,
  }: {
    branch: string;
    turn?: string | undefined;
    toolCall?: string | undefined;
  }): number[] {
    return this.#sql
      .exec<{ id: number }>(
        "SELECT id FROM versions WHERE branch = ? AND (? IS NULL OR turn = ?) AND (? IS NULL OR tool_call = ?) ORDER BY id DESC",
        branch,
        turn ?? null,
        turn ?? null,
        toolCall ?? null,
        toolCall ?? null,
      )
      .toArray()
      .map(({ id }) => id);
  }

  list({ branch, path, turn, toolCall, before, limit }: VersionQuery & { branch: string }): Version[] {
    const where = ["branch = ?"];
    const values: SqlStorageValue[] = [branch];
    const addCondition = (condition: string, ...parameters: SqlStorageValue[]) => {
      where.push(condition);
      values.push(...parameters);
    };
    if (turn !== undefined) addCondition("turn = ?", turn);
    if (toolCall !== undefined) addCondition("tool_call = ?", toolCall);
    if (before !== undefined) addCondition("id < ?", before);
    if (path !== undefined)
      addCondition(
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

  /** Counts the versions of a branch after this one. */
  countAfter(branch: string, version: number): number {
    return this.#sql
      .exec<{ count: number }>("SELECT count(*) AS count FROM versions WHERE branch = ? AND id > ?", branch, version)
      .one().count;
  }

  /**
   * Returns the last version to delete: all versions up to it are older than `before`, or at least `keep` are newer.
   * By time, versions are deleted only up to the first that is young enough, because the clock may have been wrong for
   * a while.
   */
  computeCutoff(before: number | undefined, keep: number | undefined): number {
    const firstRetained =
      before === undefined
        ? 1
        : (this.#sql.exec<{ id: number | null }>("SELECT min(id) AS id FROM versions WHERE until >= ?", before).one()
            .id ?? this.lastVersion + 1);
    const byTime = firstRetained - 1;
    const byCount =
      keep === undefined
        ? 0
        : (this.#sql
            .exec<{ id: number }>("SELECT id FROM versions ORDER BY id DESC LIMIT 1 OFFSET ?", keep)
            .toArray()[0]?.id ?? 0);
    return Math.max(byTime, byCount);
  }

  /** Returns a version up to which not many more than `maxChanges` changes are stored, but at least the oldest one. */
  limitCutoff(upTo: number, maxChanges: number): number {
    const [row] = this.#sql
      .exec<{ version: number }>(
        "SELECT version FROM changes WHERE version <= ? ORDER BY version LIMIT 1 OFFSET ?",
        upTo,
        maxChanges,
      )
      .toArray();
    return row ? Math.max(row.version - 1, this.getOldest()) : upTo;
  }

  /** Deletes all versions up to this one, except the very latest, because version numbers are never reused. */
  forget(upTo: number): number {
    const count = this.#sql
      .exec<{ count: number }>(
        "SELECT count(*) AS count FROM versions WHERE id <= ? AND id < ?",
        upTo,
        this.lastVersion,
      )
      .one().count;
    if (count === 0) return 0;
    const last = Math.min(upTo, this.lastVersion - 1);
    this.changes.forget(last);
    this.#sql.exec("DELETE FROM versions WHERE id <= ?", last);
    return count;
  }

  /**
   * Deletes the versions of a branch, except the numbers of the very latest and of the oldest, if they are its: all
   * versions before the oldest count as deleted, and others may still be based on one.
   */
  forgetBranch(branch: string): void {
    this.changes.forgetBranch(branch);
    this.#sql.exec(
      `DELETE FROM versions WHERE branch = ?
        AND id < (SELECT max(id) FROM versions) AND id > (SELECT min(id) FROM versions)`,
      branch,
    );
    this.#sql.exec("UPDATE versions SET branch = '' WHERE branch = ?", branch);
  }

  #toVersion({ id, branch, until, origin, reverts, merges }: VersionRow): Version {
    const { changes, more } = this.changes.summarize(id, maxListedChanges);
    return {
      id,
      at: new Date(until).toISOString(),
      origin: { ...(JSON.parse(origin) as Origin), ...(branch === "main" || branch === "" ? {} : { branch }) },
      changes,
      ...(more > 0 ? { more } : {}),
      ...(reverts === null ? {} : { reverts: JSON.parse(reverts) as number[] }),
      ...(merges === null ? {} : { merges }),
    };
  }
}
