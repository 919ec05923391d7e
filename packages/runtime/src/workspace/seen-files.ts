import type { Step } from "./step.ts";

/** The content of each file the model saw last: it may only overwrite what it has seen. */
export class SeenFiles {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns the hash the file had when the model last saw it. */
  get(branch: string, path: string): string | undefined {
    return this.#sql
      .exec<{ hash: string }>("SELECT hash FROM seen WHERE branch = ? AND path = ?", branch, path)
      .toArray()[0]?.hash;
  }

  mark(branch: string, path: string, hash: string): void {
    this.#sql.exec(
      `INSERT INTO seen (branch, path, hash) VALUES (?, ?, ?)
       ON CONFLICT (branch, path) DO UPDATE SET hash = excluded.hash WHERE hash <> excluded.hash`,
      branch,
      path,
      hash,
    );
  }

  /** Applies a commit by the model: it has seen what it wrote, and files it had seen before it moved them. */
  applyChanges(branch: string, steps: readonly Step[]): void {
    for (const { path, kind, other, after } of steps) {
      if (!after) continue;
      const isKnown = kind !== "move" || (other !== undefined && this.get(branch, other) === after.info.hash);
      if (isKnown) this.mark(branch, path, after.info.hash);
    }
  }

  clear(): void {
    this.#sql.exec("DELETE FROM seen");
  }
}
