import type { AgentEvent } from "@thinkery/sdk";

/** The values each middleware stores in its agent, by key. */
export class MiddlewareState {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    if (event.type === "history.cleared") return this.empty();
    if (event.type !== "middleware.state_changed") return;
    const { middlewareName, key, value } = event.data;
    if (value === undefined)
      this.#sql.exec("DELETE FROM middleware_state WHERE middleware = ? AND key = ?", middlewareName, key);
    else {
      this.#sql.exec(
        "INSERT INTO middleware_state (middleware, key, value) VALUES (?, ?, ?) ON CONFLICT (middleware, key) DO UPDATE SET value = excluded.value",
        middlewareName,
        key,
        JSON.stringify(value),
      );
    }
  }

  empty(): void {
    this.#sql.exec("DELETE FROM middleware_state");
  }

  read(middleware: string): Record<string, unknown> {
    const rows = this.#sql.exec<{ key: string; value: string }>(
      "SELECT key, value FROM middleware_state WHERE middleware = ? ORDER BY key",
      middleware,
    );
    return Object.fromEntries(rows.toArray().map(({ key, value }) => [key, JSON.parse(value) as unknown]));
  }
}
