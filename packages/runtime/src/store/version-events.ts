import type { AgentEvent } from "@thinkery/sdk";

/** Which event of the log tells of which version: whoever goes back to an event finds the files as they were then. */
export class VersionEvents {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply({ type, seq, data }: AgentEvent): void {
    if (type === "files.changed") this.#sql.exec("UPDATE versions SET event = ? WHERE id = ?", seq, data.version);
  }

  // Versions are not derived from the log, and stay.
  empty(): void {}
}
