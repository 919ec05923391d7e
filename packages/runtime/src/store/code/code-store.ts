import { CodeLog } from "./code-log.ts";
import { CodeRecord } from "./code-record.ts";
import { CodeValues } from "./code-values.ts";
import { Journal } from "./journal.ts";

/** Everything that an agent keeps for its code. Its tables are created when the code first runs. */
export class CodeStore {
  readonly record: CodeRecord;
  readonly values: CodeValues;
  readonly log: CodeLog;
  readonly journal: Journal;
  readonly #storage: DurableObjectStorage;
  readonly #createTables: () => void;
  #hasTables: boolean | undefined;

  constructor(storage: DurableObjectStorage, createTables: () => void) {
    const { sql } = storage;
    this.#storage = storage;
    this.#createTables = createTables;
    this.record = new CodeRecord(sql);
    this.values = new CodeValues(sql);
    this.log = new CodeLog(sql);
    this.journal = new Journal(sql);
  }

  /** Whether the agent's code has ever run. Without it, nothing here can be read. */
  get exists(): boolean {
    const query = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'code'";
    this.#hasTables ??= this.#storage.sql.exec(query).toArray().length > 0;
    return this.#hasTables;
  }

  open(): this {
    if (!this.exists) this.#createTables();
    this.#hasTables = true;
    return this;
  }

  /** Writes everything or nothing. */
  transact<T>(work: () => T): T {
    try {
      return this.#storage.transactionSync(work);
    } catch (error) {
      this.record.reload();
      throw error;
    }
  }
}
