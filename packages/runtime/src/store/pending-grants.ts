import type { Grant } from "@thinkery/sdk";

export type NewGrant = Omit<Grant, "createdAt">;

/** Grants that a person gave with a decision, until the agency has them. Not derived from the log: each is sent once. */
export class PendingGrants {
  readonly #sql: SqlStorage;
  /** Whether there may be any. Assumed after a wake. */
  #mayHaveAny = true;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add(grants: readonly NewGrant[]): void {
    for (const grant of grants) {
      this.#sql.exec(
        "INSERT OR REPLACE INTO pending_grants (id, value) VALUES (?, ?)",
        grant.id,
        JSON.stringify(grant),
      );
      this.#mayHaveAny = true;
    }
  }

  list(): NewGrant[] {
    if (!this.#mayHaveAny) return [];
    const rows = this.#sql.exec<{ value: string }>("SELECT value FROM pending_grants ORDER BY id").toArray();
    this.#mayHaveAny = rows.length > 0;
    return rows.map(({ value }) => JSON.parse(value) as NewGrant);
  }

  remove(grants: readonly NewGrant[]): void {
    for (const { id } of grants) this.#sql.exec("DELETE FROM pending_grants WHERE id = ?", id);
  }
}
