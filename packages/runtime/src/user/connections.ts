interface Row extends Record<string, SqlStorageValue> {
  hash: string;
  kind: string;
  name: string;
}

/** Which objects have connections that a credential opened. */
export class Connections {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  add(hash: string, kind: string, name: string): void {
    this.#sql.exec("INSERT OR IGNORE INTO connection_holders (hash, kind, name) VALUES (?, ?, ?)", hash, kind, name);
  }

  remove(hash: string, kind: string, name: string): void {
    this.#sql.exec("DELETE FROM connection_holders WHERE hash = ? AND kind = ? AND name = ?", hash, kind, name);
  }

  /** Removes and returns the connections whose basis, a credential or a membership, is no longer valid. */
  takeInvalid(isValid: (holder: Row) => boolean): Row[] {
    const rows = this.#sql.exec<Row>("SELECT * FROM connection_holders").toArray();
    const invalid = rows.filter((row) => !isValid(row));
    for (const { hash, kind, name } of invalid) this.remove(hash, kind, name);
    return invalid;
  }
}
