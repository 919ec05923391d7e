/** A turn that handles messages of the agency. */
export interface TeamTurn {
  delivery: number;
  runId: string;
}

interface Row extends Record<string, SqlStorageValue> {
  delivery: number;
  run_id: string;
  report: string | null;
}

/** The turns of an agent that its agency waits for, and the reports that it has not got yet. */
export class TeamTurns<Report> {
  readonly #sql: SqlStorage;
  readonly #createTable: () => void;
  #hasTable: boolean | undefined;
  /** The turns that are not over, by id. Read on first use: most turns of most agents are none of these. */
  #open: Map<string, number> | undefined;

  constructor(sql: SqlStorage, createTable: () => void) {
    this.#sql = sql;
    this.#createTable = createTable;
  }

  /** Whether this agent was ever given a message by its agency, or refused one. */
  get isUsed(): boolean {
    return this.#checkTable();
  }

  markUsed(): void {
    if (!this.#checkTable()) this.#createTable();
    this.#hasTable = true;
  }

  add({ delivery, runId }: TeamTurn): void {
    this.markUsed();
    this.#sql.exec("INSERT OR IGNORE INTO team_turns (delivery, run_id) VALUES (?, ?)", delivery, runId);
    this.#readOpen().set(runId, delivery);
  }

  has(delivery: number): boolean {
    return (
      this.#checkTable() && this.#sql.exec("SELECT 1 FROM team_turns WHERE delivery = ?", delivery).toArray().length > 0
    );
  }

  /** Returns the delivery that an open turn handles. */
  findDelivery(runId: string): number | undefined {
    return this.#checkTable() ? this.#readOpen().get(runId) : undefined;
  }

  setReport({ delivery, runId }: TeamTurn, report: Report): void {
    this.#sql.exec("UPDATE team_turns SET report = ? WHERE delivery = ?", JSON.stringify(report), delivery);
    this.#readOpen().delete(runId);
  }

  listReports(): Report[] {
    if (!this.#checkTable()) return [];
    return this.#sql
      .exec<Row>("SELECT * FROM team_turns WHERE report IS NOT NULL ORDER BY delivery")
      .toArray()
      .map(({ report }) => JSON.parse(report ?? "") as Report);
  }

  remove(delivery: number): void {
    this.#sql.exec("DELETE FROM team_turns WHERE delivery = ?", delivery);
  }

  #readOpen(): Map<string, number> {
    this.#open ??= new Map(
      this.#sql
        .exec<Row>("SELECT * FROM team_turns WHERE report IS NULL")
        .toArray()
        .map(({ run_id, delivery }) => [run_id, delivery]),
    );
    return this.#open;
  }

  #checkTable(): boolean {
    this.#hasTable ??=
      this.#sql.exec("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'team_turns'").toArray().length > 0;
    return this.#hasTable;
  }
}
