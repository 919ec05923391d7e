import type { PageQuery } from "@thinkery/sdk";

type ColumnValues = Record<string, SqlStorageValue>;

/**
 * An object's list of other objects: an agency's agents, a user's agencies. A change involves two objects, so a row has
 * a state: `creating` until the other object is created, `deleting` until it is erased. `settle` finishes what a crash
 * left in between.
 */
export class Registry<Row extends ColumnValues> {
  readonly #sql: SqlStorage;
  readonly #table: string;
  readonly #key: string & keyof Row;

  constructor(sql: SqlStorage, table: string, key: string & keyof Row) {
    this.#sql = sql;
    this.#table = table;
    this.#key = key;
  }

  /** Returns the row of a name in any state. */
  find(name: string): (Row & { state: string }) | undefined {
    return this.#select(`WHERE ${this.#key} = ?`, name)[0];
  }

  page({ limit, after = "" }: PageQuery): { rows: Row[]; next?: string } {
    const found = this.#select(
      `WHERE state = 'ready' AND ${this.#key} > ? ORDER BY ${this.#key} LIMIT ?`,
      after,
      limit + 1,
    );
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    return found.length > limit && last ? { rows, next: String(last[this.#key]) } : { rows };
  }

  /** Counts all entries, also those that are being created or deleted. */
  count(): number {
    return this.#sql.exec<{ count: number }>(`SELECT count(*) AS count FROM ${this.#table}`).one().count;
  }

  listNames(): string[] {
    return this.#sql
      .exec<{ name: string }>(`SELECT ${this.#key} AS name FROM ${this.#table}`)
      .toArray()
      .map(({ name }) => name);
  }

  /**
   * Reserves the name, creates the other object, then confirms the name. If `create` fails, the name is released, or
   * marked for deletion if the other object may already hold data of ours.
   */
  async add(row: Row, create: () => Promise<void>, onFailure: "release" | "delete"): Promise<void> {
    const name = String(row[this.#key]);
    this.reserve(row);
    try {
      await create();
    } catch (error) {
      if (onFailure === "delete") this.markDeleting(name);
      else this.#delete(name);
      throw error;
    }
    this.confirm(name);
  }

  async remove(name: string, erase: (name: string) => Promise<void>): Promise<void> {
    this.markDeleting(name);
    await erase(name);
    this.#delete(name);
  }

  /** First half of an addition: takes the name durably before the other object is created. */
  reserve(row: Row): void {
    const columns = Object.keys(row);
    const placeholders = columns.map(() => "?").join(", ");
    this.#sql.exec(
      `INSERT INTO ${this.#table} (${columns.join(", ")}, state) VALUES (${placeholders}, 'creating')`,
      ...Object.values(row),
    );
  }

  confirm(name: string): void {
    this.#sql.exec(`UPDATE ${this.#table} SET state = 'ready' WHERE ${this.#key} = ? AND state = 'creating'`, name);
  }

  markDeleting(name: string): void {
    this.#sql.exec(`UPDATE ${this.#table} SET state = 'deleting' WHERE ${this.#key} = ?`, name);
  }

  /**
   * Finishes every interrupted addition and removal; returns whether there were any. Failures are ignored, so that they
   * do not block the object, and retried at the next wake.
   */
  async settle(create: (row: Row) => Promise<void>, erase: (name: string) => Promise<void>): Promise<boolean> {
    const unsettled = this.#select("WHERE state <> 'ready'");
    await Promise.allSettled(
      unsettled.map(async (row) => {
        const name = String(row[this.#key]);
        if (row.state === "deleting") return this.remove(name, erase);
        await create(row);
        this.confirm(name);
      }),
    );
    return unsettled.length > 0;
  }

  #delete(name: string): void {
    this.#sql.exec(`DELETE FROM ${this.#table} WHERE ${this.#key} = ?`, name);
  }

  #select(where: string, ...values: SqlStorageValue[]): Array<Row & { state: string }> {
    return this.#sql.exec<Row & { state: string }>(`SELECT * FROM ${this.#table} ${where}`, ...values).toArray();
  }
}
