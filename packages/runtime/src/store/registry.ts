import type { PageQuery } from "@thinkery/sdk";

type ColumnValues = Record<string, SqlStorageValue>;

/**
 * The names one object keeps of others: an agency of its agents, a user of their agencies. A change touches two
 * objects, so a row says how far it came: `creating` until the other object knows, `deleting` until it is gone.
 * Whatever a crash leaves in between, `settle` finishes.
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

  /** The row of a name, whatever its state. */
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

  listNames(): string[] {
    return this.#select("").map((row) => String(row[this.#key]));
  }

  /**
   * Takes the name, tells the other object, and only then counts it as one of ours. Should that object refuse,
   * the name is given back, or condemned where the object may hold something of ours already.
   */
  async add(row: Row, tell: () => Promise<void>, refused: "give back" | "condemn"): Promise<void> {
    const name = String(row[this.#key]);
    this.reserve(row);
    try {
      await tell();
    } catch (error) {
      if (refused === "condemn") this.markDeleting(name);
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

  /** First half of an addition: the name is taken, durably, before the other object hears of it. */
  reserve(row: Row): void {
    const columns = Object.keys(row);
    const marks = columns.map(() => "?").join(", ");
    this.#sql.exec(
      `INSERT INTO ${this.#table} (${columns.join(", ")}, state) VALUES (${marks}, 'creating')`,
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
   * Finishes every addition and removal that was cut off, and answers whether there was one. What cannot be
   * finished now must not keep the whole object shut: it is tried again at the next wake.
   */
  async settle(tell: (row: Row) => Promise<void>, erase: (name: string) => Promise<void>): Promise<boolean> {
    const unsettled = this.#select("WHERE state <> 'ready'");
    await Promise.allSettled(
      unsettled.map(async (row) => {
        const name = String(row[this.#key]);
        if (row.state === "deleting") return this.remove(name, erase);
        await tell(row);
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
