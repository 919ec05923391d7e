/** Whether the inbox of the agent's user has what it should. Not derived from the log: a rebuild sends it again. */
export class InboxSync {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Whether something was sent that may not have arrived. */
  get isPending(): boolean {
    return this.#read()?.is_pending === 1;
  }

  /** Whether the inbox shows something of this agent as pending. */
  get hasPendingItems(): boolean {
    return this.#read()?.has_items === 1;
  }

  begin(hasItems: boolean): void {
    this.#sql.exec(
      `INSERT INTO inbox_sync (only, is_pending, has_items) VALUES (1, 1, ?)
       ON CONFLICT (only) DO UPDATE SET is_pending = 1, has_items = excluded.has_items`,
      hasItems ? 1 : 0,
    );
  }

  finish(): void {
    this.#sql.exec("UPDATE inbox_sync SET is_pending = 0");
  }

  #read(): { is_pending: number; has_items: number } | undefined {
    return this.#sql.exec<{ is_pending: number; has_items: number }>("SELECT * FROM inbox_sync").toArray()[0];
  }
}
