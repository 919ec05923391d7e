import type { Origin, Overlap } from "@thinkery/sdk";

export interface BranchRow extends Record<string, SqlStorageValue> {
  name: string;
  parent: string;
  /** The version it was created from. */
  at: number;
  /** The last common state of the branch and its parent: this version of this branch. */
  base_branch: string;
  base_version: number;
  created_at: number;
  merged_at: number | null;
  origin: string;
  /** The last merge with an idempotency key, and its `KeptMerge`. */
  merge_key: string | null;
  merge_result: string | null;
}

/** What a merge returned, as it is stored. */
export interface KeptMerge {
  version?: number;
  overlaps: Overlap[];
}

/** All branches except main. */
export class Branches {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  list(): BranchRow[] {
    return this.#sql.exec<BranchRow>("SELECT * FROM branches ORDER BY created_at, name").toArray();
  }

  get(name: string): BranchRow | undefined {
    return this.#sql.exec<BranchRow>("SELECT * FROM branches WHERE name = ?", name).toArray()[0];
  }

  add({
    name,
    parent,
    at,
    origin,
    now,
  }: {
    name: string;
    parent: string;
    at: number;
    origin: Origin;
    now: number;
  }): void {
    this.#sql.exec(
      "INSERT INTO branches (name, parent, at, base_branch, base_version, created_at, origin) VALUES (?, ?, ?, ?, ?, ?, ?)",
      name,
      parent,
      at,
      parent,
      at,
      now,
      JSON.stringify(origin),
    );
  }

  /** Makes a version of the merged branch the new common base of a branch and its parent. */
  recordMerge(name: string, source: string, version: number, now: number): void {
    this.#sql.exec(
      "UPDATE branches SET base_branch = ?, base_version = ?, merged_at = ? WHERE name = ?",
      source,
      version,
      now,
      name,
    );
  }

  /** Keeps what a merge returns, for when it is sent again. */
  keepMerge(name: string, key: string, merge: KeptMerge): void {
    this.#sql.exec(
      "UPDATE branches SET merge_key = ?, merge_result = ? WHERE name = ?",
      key,
      JSON.stringify(merge),
      name,
    );
  }

  remove(name: string): void {
    this.#sql.exec("DELETE FROM branches WHERE name = ?", name);
    this.#sql.exec("DELETE FROM seen WHERE branch = ?", name);
  }

  findFreeName(): string {
    for (let number = 1; ; number++) {
      const name = `branch-${number}`;
      if (!this.get(name)) return name;
    }
  }
}
