import type { PageQuery } from "@thinkery/sdk";

type Cells = Record<string, SqlStorageValue>;

/**
 * The names one object keeps of others: an agency of its agents, a user of their agencies. A change touches two
 * objects, so a row says how far it came: `creating` until the other object knows, `deleting` until it is gone.
 * Whatever a crash leaves in between, `settle` finishes.
 */
export class Roster<Row extends Cells> {
  readonly #sql: SqlStorage;
  readonly #table: string;
  readonly #key: string & keyof Row;

  constructor(sql: SqlStorage, table: string, key: string & keyof Row) {
    this.#sql = sql;
    this.#table = table;
    this.#key = key;
  }

  /** The row of a name, whatever its state. */
  row(name: string): (Row & { state: string }) | undefined {
    return this.#rows(`WHERE ${this.#key} = ?`, name)[0];
  }

  page({ limit, after = "" }: PageQuery): { rows: Row[]; next?: string } {
    const found = this.#rows(`WHERE state = 'ready' AND ${this.#key} > ? ORDER BY ${this.#key} LIMIT ?`, after, limit + 1);
    const rows = found.slice(0, limit);
    const last = rows.at(-1);
    return found.length > limit && last ? { rows, next: String(last[this.#key]) } : { rows };
  }

  names(): string[] {
    return this.#rows("").map((row) => String(row[this.#key]));
  }

  /** First half of a creation: the name is taken, durably, before the other object hears of it. */
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

  condemn(name: string): void {
    this.#sql.exec(`UPDATE ${this.#table} SET state = 'deleting' WHERE ${this.#key} = ?`, name);
  }

  remove(name: string): void {
    this.#sql.exec(`DELETE FROM ${this.#table} WHERE ${this.#key} = ?`, name);
  }

  /**
   * Finishes every creation and deletion that was cut off, and answers whether there was one. What cannot be
   * finished now must not keep the whole object shut: it is tried again at the next wake.
   */
  async settle(create: (row: Row) => Promise<void>, erase: (name: string) => Promise<void>): Promise<boolean> {
    const unsettled = this.#rows("WHERE state <> 'ready'");
    await Promise.allSettled(
      unsettled.map(({ state, ...row }) =>
        state === "creating" ? create(row as unknown as Row) : erase(String((row as Cells)[this.#key])),
      ),
    );
    return unsettled.length > 0;
  }

  #rows(where: string, ...values: SqlStorageValue[]): Array<Row & { state: string }> {
    return this.#sql.exec<Row & { state: string }>(`SELECT * FROM ${this.#table} ${where}`, ...values).toArray();
  }
}
