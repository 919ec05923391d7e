interface Entry extends Record<string, SqlStorageValue> {
  key: string;
  chars: number;
}

interface Total extends Record<string, SqlStorageValue> {
  entries: number;
  chars: number;
}

/** The values that an agent's code keeps apart from its state, by key. */
export class CodeValues {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns JSON. */
  get(key: string): string | undefined {
    return this.#sql.exec<{ value: string }>("SELECT value FROM code_values WHERE key = ?", key).toArray()[0]?.value;
  }

  set(key: string, json: string): void {
    const former = this.#getChars(key);
    this.#sql.exec("INSERT OR REPLACE INTO code_values (key, chars, value) VALUES (?, ?, ?)", key, json.length, json);
    this.#addToTotal(former === undefined ? 1 : 0, json.length - (former ?? 0));
  }

  delete(key: string): void {
    const former = this.#getChars(key);
    if (former === undefined) return;
    this.#sql.exec("DELETE FROM code_values WHERE key = ?", key);
    this.#addToTotal(-1, -former);
  }

  /** Returns the entries after a key, in order; only those whose key begins with the prefix. */
  list(prefix: string, after: string, limit: number): Entry[] {
    return this.#sql
      .exec<Entry>(
        `SELECT key, chars FROM code_values
         WHERE key > ? AND key >= ? AND substr(key, 1, length(?)) = ? ORDER BY key LIMIT ?`,
        after,
        prefix,
        prefix,
        prefix,
        limit,
      )
      .toArray();
  }

  measure(): { entries: number; chars: number } {
    return this.#sql.exec<Total>("SELECT entries, chars FROM code_values_total").one();
  }

  /** Returns all values, as JSON by key. */
  *readAll(): Generator<[key: string, json: string]> {
    for (let after = ""; ;) {
      const rows = this.#sql
        .exec<{ key: string; value: string }>(
          "SELECT key, value FROM code_values WHERE key > ? ORDER BY key LIMIT 100",
          after,
        )
        .toArray();
      for (const { key, value } of rows) yield [key, value];
      const last = rows.at(-1);
      if (!last) return;
      after = last.key;
    }
  }

  #getChars(key: string): number | undefined {
    return this.#sql.exec<{ chars: number }>("SELECT chars FROM code_values WHERE key = ?", key).toArray()[0]?.chars;
  }

  #addToTotal(entries: number, chars: number): void {
    this.#sql.exec("UPDATE code_values_total SET entries = entries + ?, chars = chars + ?", entries, chars);
  }
}
