import type { NewSchedule, ScheduleOutcome, ScheduleRunStatus } from "@thinkery/sdk";
import type { DueRun, MissedTimes } from "./plan-due.ts";

/** What a schedule was created with. */
export type ScheduleDefinition = Omit<NewSchedule, "idempotencyKey">;

export interface ScheduleRow {
  number: number;
  id: string;
  agent?: string;
  definition: ScheduleDefinition;
  createdBy: string;
  createdAt: number;
  paused: boolean;
  nextAt?: number;
}

export interface RunRow {
  number: number;
  schedule: number;
  /** Identifies its message, so that it is admitted once. */
  key: string;
  dueAt: number;
  at: number;
  status: ScheduleRunStatus;
  skipsIfOpen: boolean;
  runId?: string;
  outcome?: ScheduleOutcome;
  details: RunDetails;
}

export interface RunDetails extends Omit<MissedTimes, "dueAt"> {
  error?: string;
  manual?: boolean;
}

/** A run that has yet to be admitted, with what its agent gets. */
export interface PendingRun extends RunRow {
  row: ScheduleRow;
}

/** Runs shown with a schedule. */
const maxRecentRuns = 5;
/** Runs kept for each schedule, besides those that are pending. */
const maxRunsKept = 100;

/** The tables of schedules and their runs. */
export class ScheduleTable {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  transaction<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  hasAny(): boolean {
    return this.#read("SELECT 1 FROM schedules LIMIT 1").length > 0;
  }

  count(): number {
    return this.#read<{ count: number }>("SELECT COUNT(*) AS count FROM schedules")[0]?.count ?? 0;
  }

  /** Inputs may be long, so lists are read one by one. */
  findAfter(number: number): ScheduleRow | undefined {
    return this.#readSchedules("WHERE number > ? ORDER BY number LIMIT 1", number)[0];
  }

  find(id: string): ScheduleRow | undefined {
    return this.#readSchedules("WHERE id = ?", id)[0];
  }

  findByKey(key: string): ScheduleRow | undefined {
    return this.#readSchedules("WHERE key = ?", key)[0];
  }

  listDue(now: number, limit: number): ScheduleRow[] {
    return this.#readSchedules("WHERE next_at <= ? ORDER BY next_at LIMIT ?", now, limit);
  }

  getNextAt(): number | undefined {
    return this.#read<{ next: number | null }>("SELECT MIN(next_at) AS next FROM schedules")[0]?.next ?? undefined;
  }

  insert(row: Omit<ScheduleRow, "number">, key: string | undefined): void {
    this.#storage.sql.exec(
      "INSERT INTO schedules (id, key, agent, definition, created_by, created_at, next_at) VALUES (?, ?, ?, ?, ?, ?, ?)",
      row.id,
      key ?? null,
      row.agent ?? null,
      JSON.stringify(row.definition),
      row.createdBy,
      row.createdAt,
      row.nextAt ?? null,
    );
  }

  setNextAt(number: number, nextAt: number | undefined): void {
    this.#storage.sql.exec("UPDATE schedules SET next_at = ? WHERE number = ?", nextAt ?? null, number);
  }

  setPaused(number: number, paused: boolean, nextAt: number | undefined): void {
    this.#storage.sql.exec(
      "UPDATE schedules SET paused = ?, next_at = ? WHERE number = ?",
      paused ? 1 : 0,
      nextAt ?? null,
      number,
    );
  }

  delete(number: number): void {
    this.#storage.sql.exec("DELETE FROM schedule_runs WHERE schedule = ?", number);
    this.#storage.sql.exec("DELETE FROM schedules WHERE number = ?", number);
  }

  /** Deletes the oldest schedule that is over: not paused, with neither a next time nor a pending run. */
  deleteOldestFinished(): boolean {
    const [row] = this.#readSchedules(
      `WHERE next_at IS NULL AND paused = 0
       AND number NOT IN (SELECT schedule FROM schedule_runs WHERE status = 'pending') ORDER BY number LIMIT 1`,
    );
    if (row) this.delete(row.number);
    return row !== undefined;
  }

  deleteOfAgent(agent: string): void {
    const rows = this.#read<{ number: number }>("SELECT number FROM schedules WHERE agent = ?", agent);
    for (const { number } of rows) this.delete(number);
  }

  addMissed(schedule: number, { dueAt, ...details }: MissedTimes, at: number): void {
    this.#insertRun(schedule, "", dueAt, at, "missed", false, details);
  }

  addPending(row: ScheduleRow, { dueAt, skipsIfOpen }: DueRun, at: number): void {
    this.#insertRun(row.number, createRunKey(row.id, dueAt), dueAt, at, "pending", skipsIfOpen, {});
  }

  /** Ends a schedule that cannot be continued. */
  fail({ number }: ScheduleRow, dueAt: number, at: number, error: string): void {
    this.transaction(() => {
      this.#insertRun(number, "", dueAt, at, "failed", false, { error });
      this.setNextAt(number, undefined);
    });
  }

  addManual(row: ScheduleRow, at: number, requestKey: string): number {
    const key = `schedule:${row.id}:${requestKey}`;
    const [known] = this.#readRuns("WHERE schedule = ? AND key = ?", row.number, key);
    if (known) return known.number;
    this.#insertRun(row.number, key, at, at, "pending", false, { manual: true });
    return this.#read<{ number: number }>("SELECT MAX(number) AS number FROM schedule_runs")[0]?.number ?? 0;
  }

  settle(run: RunRow, status: ScheduleRunStatus, { runId, error }: { runId?: string; error?: string }): void {
    this.#storage.sql.exec(
      "UPDATE schedule_runs SET status = ?, run_id = ?, details = ? WHERE number = ?",
      status,
      runId ?? null,
      JSON.stringify({ ...run.details, ...(error === undefined ? {} : { error }) }),
      run.number,
    );
    this.prune(run.schedule);
  }

  setOutcome(number: number, outcome: ScheduleOutcome): void {
    this.#storage.sql.exec("UPDATE schedule_runs SET outcome = ? WHERE number = ?", outcome, number);
  }

  prune(schedule: number): void {
    this.#storage.sql.exec(
      `DELETE FROM schedule_runs WHERE schedule = ?1 AND status <> 'pending' AND number <= (
         SELECT number FROM schedule_runs WHERE schedule = ?1 AND status <> 'pending'
         ORDER BY number DESC LIMIT 1 OFFSET ?2)`,
      schedule,
      maxRunsKept,
    );
  }

  hasPending(): boolean {
    return this.#read("SELECT 1 FROM schedule_runs WHERE status = 'pending' LIMIT 1").length > 0;
  }

  /** Returns the oldest pending runs. */
  listPending(limit: number): PendingRun[] {
    const runs = this.#readRuns("WHERE status = 'pending' ORDER BY number LIMIT ?", limit);
    const rows = new Map<number, ScheduleRow | undefined>();
    return runs.flatMap((run) => {
      if (!rows.has(run.schedule)) rows.set(run.schedule, this.#readSchedules("WHERE number = ?", run.schedule)[0]);
      const row = rows.get(run.schedule);
      return row ? [{ ...run, row }] : [];
    });
  }

  getRun(number: number): RunRow | undefined {
    return this.#readRuns("WHERE number = ?", number)[0];
  }

  /** Returns the latest run before this one that got a turn. */
  findPrevious({ schedule, number }: RunRow): RunRow | undefined {
    return this.#readRuns(
      "WHERE schedule = ? AND number < ? AND run_id IS NOT NULL ORDER BY number DESC LIMIT 1",
      schedule,
      number,
    )[0];
  }

  /** Returns runs, newest first. */
  listRuns(schedule: number, before: number, limit: number): RunRow[] {
    return this.#readRuns("WHERE schedule = ? AND number < ? ORDER BY number DESC LIMIT ?", schedule, before, limit);
  }

  listRecentRuns({ number }: ScheduleRow): RunRow[] {
    return this.listRuns(number, Number.MAX_SAFE_INTEGER, maxRecentRuns);
  }

  /** Returns runs whose turn was not over when last looked at, with their agents. */
  listOpen(): (RunRow & { agent?: string })[] {
    const runs = this.#readRuns("WHERE run_id IS NOT NULL AND outcome IS NULL");
    const agents = new Map(
      runs.length > 0 ? this.#readSchedules("WHERE agent IS NOT NULL").map(({ number, agent }) => [number, agent]) : [],
    );
    return runs.map((run) => {
      const agent = agents.get(run.schedule);
      return agent === undefined ? run : { ...run, agent };
    });
  }

  #insertRun(
    schedule: number,
    key: string,
    dueAt: number,
    at: number,
    status: ScheduleRunStatus,
    skipsIfOpen: boolean,
    details: RunDetails,
  ): void {
    this.#storage.sql.exec(
      "INSERT INTO schedule_runs (schedule, key, due_at, at, status, skips_if_open, details) VALUES (?, ?, ?, ?, ?, ?, ?)",
      schedule,
      key,
      dueAt,
      at,
      status,
      skipsIfOpen ? 1 : 0,
      JSON.stringify(details),
    );
  }

  #readSchedules(where: string, ...values: SqlStorageValue[]): ScheduleRow[] {
    const sql = `SELECT number, id, agent, definition, created_by, created_at, paused, next_at FROM schedules ${where}`;
    return this.#read<StoredSchedule>(sql, ...values).map((row) => ({
      number: row.number,
      id: row.id,
      ...(row.agent === null ? {} : { agent: row.agent }),
      definition: JSON.parse(row.definition) as ScheduleDefinition,
      createdBy: row.created_by,
      createdAt: row.created_at,
      paused: row.paused === 1,
      ...(row.next_at === null ? {} : { nextAt: row.next_at }),
    }));
  }

  #readRuns(where: string, ...values: SqlStorageValue[]): RunRow[] {
    return this.#read<StoredRun>(`SELECT * FROM schedule_runs ${where}`, ...values).map((row) => ({
      number: row.number,
      schedule: row.schedule,
      key: row.key,
      dueAt: row.due_at,
      at: row.at,
      status: row.status,
      skipsIfOpen: row.skips_if_open === 1,
      ...(row.run_id === null ? {} : { runId: row.run_id }),
      ...(row.outcome === null ? {} : { outcome: row.outcome }),
      details: JSON.parse(row.details ?? "{}") as RunDetails,
    }));
  }

  #read<T extends Record<string, SqlStorageValue>>(sql: string, ...values: SqlStorageValue[]): T[] {
    return this.#storage.sql.exec<T>(sql, ...values).toArray();
  }
}

interface StoredSchedule extends Record<string, SqlStorageValue> {
  number: number;
  id: string;
  agent: string | null;
  definition: string;
  created_by: string;
  created_at: number;
  paused: number;
  next_at: number | null;
}

interface StoredRun extends Record<string, SqlStorageValue> {
  number: number;
  schedule: number;
  key: string;
  due_at: number;
  at: number;
  status: ScheduleRunStatus;
  skips_if_open: number;
  run_id: string | null;
  outcome: ScheduleOutcome | null;
  details: string | null;
}

const createRunKey = (id: string, dueAt: number) => `schedule:${id}:${new Date(dueAt).toISOString()}`;
