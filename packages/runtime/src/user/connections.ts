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

  /** Removes and returns the connections of credentials that are no longer valid. */
  takeInvalid(now = Date.now()): Row[] {
    const isInvalid = "hash NOT IN (SELECT hash FROM credentials WHERE expires_at IS NULL OR expires_at > ?)";
    const rows = this.#sql.exec<Row>(`SELECT * FROM connection_holders WHERE ${isInvalid}`, now).toArray();
    if (rows.length > 0) this.#sql.exec(`DELETE FROM connection_holders WHERE ${isInvalid}`, now);
    return rows;
  }
}
