import type { AgentEvent } from "@thinkery/sdk";

/** Links each file version to its event in the log, to find the files as they were at an event. */
export class VersionEvents {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply({ type, seq, data }: AgentEvent): void {
    if (type === "files.changed") this.#sql.exec("UPDATE versions SET event = ? WHERE id = ?", seq, data.version);
  }

  // Versions are not derived from the log, so they stay.
  empty(): void {}
}
