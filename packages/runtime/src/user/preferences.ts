import type { Preferences as Values } from "@thinkery/sdk";

/** A user's preferences, shared by all their clients. */
export class Preferences {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  get(): Values {
    const [row] = this.#sql.exec<{ data: string }>("SELECT data FROM preferences").toArray();
    return row ? (JSON.parse(row.data) as Values) : {};
  }

  put(values: Values): Values {
    this.#sql.exec(
      "INSERT INTO preferences (only, data) VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET data = excluded.data",
      JSON.stringify(values),
    );
    return values;
  }
}
