import { fail, type Workflow, type WorkflowRun } from "@thinkery/sdk";
import { roundUsd } from "@thinkery/sdk/internal";
import type { DeliveryReport } from "./deliveries.ts";

interface Row extends Record<string, SqlStorageValue> {
  run: string;
  definition: string;
  key: string | null;
  ready: number;
  reported: number;
  result: string | null;
}

type StoredRun = Omit<WorkflowRun, "result">;

/** The run of a workflow that an agency is, or was. */
export class RunRecord {
  readonly #sql: SqlStorage;
  /** Cached, because each turn asks. Null if there is none. */
  #cached: StoredRun | null | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns the run without its result, which may be long. */
  find(): StoredRun | undefined {
    if (this.#cached === undefined) {
      const row = this.#read();
      this.#cached = row ? (JSON.parse(row.run) as StoredRun) : null;
    }
    return this.#cached ?? undefined;
  }

  get(): StoredRun {
    const run = this.find();
    if (!run) throw fail("not_found", "This agency is not the run of a workflow.");
    return run;
  }

  describe(): WorkflowRun {
    const result = this.#read()?.result;
    return { ...this.get(), ...(result ? { result } : {}) };
  }

  get definition(): Workflow | undefined {
    const row = this.#read();
    return row && (JSON.parse(row.definition) as Workflow);
  }

  /** Whether its agents exist, and the kickoff is posted. */
  get isReady(): boolean {
    return this.#read()?.ready === 1;
  }

  get isReported(): boolean {
    return this.#read()?.reported !== 0;
  }

  /** Whether the run was started under this idempotency key. */
  hasKey(key: string): boolean {
    return this.#read()?.key === key;
  }

  begin(run: StoredRun, definition: Workflow, key: string | undefined): void {
    this.#sql.exec("DELETE FROM workflow_run");
    this.#sql.exec(
      "INSERT INTO workflow_run (only, run, definition, key) VALUES (1, ?, ?, ?)",
      JSON.stringify(run),
      JSON.stringify(definition),
      key ?? null,
    );
    this.#cached = run;
  }

  markReady(): void {
    this.#sql.exec("UPDATE workflow_run SET ready = 1");
  }

  markReported(): void {
    this.#sql.exec("UPDATE workflow_run SET reported = 1");
  }

  update(change: Partial<StoredRun>): void {
    const run = { ...this.get(), ...change };
    this.#sql.exec("UPDATE workflow_run SET run = ?, reported = 0", JSON.stringify(run));
    this.#cached = run;
  }

  /** Adds a turn. What its agent replied is the result so far. */
  addTurn({ usage, result, status }: DeliveryReport): void {
    const run = this.get();
    const costUsd =
      usage.costUsd === null || run.usage.costUsd === null ? null : roundUsd(run.usage.costUsd + usage.costUsd);
    this.update({
      turns: run.turns + 1,
      usage: {
        inputTokens: run.usage.inputTokens + usage.inputTokens,
        outputTokens: run.usage.outputTokens + usage.outputTokens,
        costUsd,
      },
    });
    if (status === "completed" && result.trim() !== "") this.#sql.exec("UPDATE workflow_run SET result = ?", result);
  }

  #read(): Row | undefined {
    return this.#sql.exec<Row>("SELECT * FROM workflow_run").toArray()[0];
  }
}

export const isOpenRun = ({ status }: Pick<WorkflowRun, "status">) =>
  status === "running" || status === "waiting" || status === "stopped";
