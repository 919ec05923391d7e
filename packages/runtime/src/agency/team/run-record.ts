import { fail, type Workflow, type WorkflowRun } from "@thinkery/sdk";
import { roundUsd } from "@thinkery/sdk/internal";
import type { DeliveryReport } from "./deliveries.ts";

interface Row extends Record<string, SqlStorageValue> {
  run: string;
  key: string | null;
  ready: number;
  reported: number;
}

type StoredRun = Omit<WorkflowRun, "result" | "kickoff">;

type TextName = "definition" | "kickoff" | "result";

/** What a run begins with. */
interface RunStart {
  definition: Workflow;
  kickoff?: string | undefined;
  key?: string | undefined;
}

/** A row as it is stored. Each turn asks for it several times. */
interface CachedRow {
  run: StoredRun;
  key?: string;
  isReady: boolean;
  isReported: boolean;
}

/** The run of a workflow that an agency is, or was. */
export class RunRecord {
  readonly #sql: SqlStorage;
  /** Null if there is none. */
  #cached: CachedRow | null | undefined;
  #definition: Workflow | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Returns the run without its texts, which may be long. */
  find(): StoredRun | undefined {
    return this.#find()?.run;
  }

  get(): StoredRun {
    const run = this.find();
    if (!run) throw fail("not_found", "This agency is not the run of a workflow.");
    return run;
  }

  describe(): WorkflowRun {
    const { kickoff } = this;
    const result = this.#readText("result");
    return { ...this.get(), ...(kickoff ? { kickoff } : {}), ...(result ? { result } : {}) };
  }

  get definition(): Workflow | undefined {
    if (!this.#find()) return undefined;
    return (this.#definition ??= JSON.parse(this.#readText("definition") ?? "") as Workflow);
  }

  get kickoff(): string | undefined {
    return this.#readText("kickoff");
  }

  /** Whether its agents exist, and the kickoff is posted. */
  get isReady(): boolean {
    return this.#find()?.isReady === true;
  }

  get isReported(): boolean {
    return this.#find()?.isReported !== false;
  }

  /** Whether the run was started under this idempotency key. */
  hasKey(key: string): boolean {
    return this.#find()?.key === key;
  }

  begin(run: StoredRun, { definition, kickoff, key }: RunStart): void {
    this.#sql.exec("DELETE FROM workflow_run");
    this.#sql.exec("DELETE FROM workflow_texts");
    this.#sql.exec("INSERT INTO workflow_run (only, run, key) VALUES (1, ?, ?)", JSON.stringify(run), key ?? null);
    this.#writeText("definition", JSON.stringify(definition));
    if (kickoff !== undefined) this.#writeText("kickoff", kickoff);
    this.#cached = undefined;
    this.#definition = undefined;
  }

  markReady(): void {
    this.#sql.exec("UPDATE workflow_run SET ready = 1");
    this.#cached = undefined;
  }

  markReported(): void {
    this.#sql.exec("UPDATE workflow_run SET reported = 1");
    this.#cached = undefined;
  }

  update(change: Partial<StoredRun>): void {
    this.#sql.exec("UPDATE workflow_run SET run = ?, reported = 0", JSON.stringify({ ...this.get(), ...change }));
    this.#cached = undefined;
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
    if (status !== "completed" || result.trim() === "") return;
    this.#writeText("result", result);
  }

  #find(): CachedRow | undefined {
    if (this.#cached === undefined) {
      const [row] = this.#sql.exec<Row>("SELECT * FROM workflow_run").toArray();
      this.#cached = row ? parseRow(row) : null;
    }
    return this.#cached ?? undefined;
  }

  #writeText(name: TextName, text: string): void {
    const query =
      "INSERT INTO workflow_texts (name, text) VALUES (?, ?) ON CONFLICT DO UPDATE SET text = excluded.text";
    this.#sql.exec(query, name, text);
  }

  #readText(name: TextName): string | undefined {
    return this.#sql.exec<{ text: string }>("SELECT text FROM workflow_texts WHERE name = ?", name).toArray()[0]?.text;
  }
}

function parseRow({ run, key, ready, reported }: Row): CachedRow {
  const base = { run: JSON.parse(run) as StoredRun, isReady: ready === 1, isReported: reported === 1 };
  return key === null ? base : { ...base, key };
}

export const isOpenRun = ({ status }: Pick<WorkflowRun, "status">) =>
  status === "running" || status === "waiting" || status === "stopped";
