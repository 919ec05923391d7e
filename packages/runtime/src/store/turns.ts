import type { AgentEvent, AgentUsage, Failure, Props, Run } from "@thinkery/sdk";

export type TurnStatus = "queued" | "running" | "paused" | "completed" | "error" | "canceled";

interface Row extends Record<string, SqlStorageValue> {
  id: string;
  number: number;
  status: TurnStatus;
  model: string | null;
  step: number;
  attempt: number;
  crashes: number;
  boot: string | null;
  started_at: number | null;
  paused_at: number | null;
  paused_ms: number;
  paused_for: string | null;
  result: string | null;
  failure: string | null;
  props: string | null;
}

export interface TurnRow {
  id: string;
  number: number;
  status: TurnStatus;
  model?: string;
  step: number;
  /** How often it was resumed since it last made progress. */
  attempt: number;
  /** How often the host crashed during it since then. */
  crashCount: number;
  boot?: string;
  startedAt?: number;
  /** What it waits for while paused. */
  pausedFor?: string;
  /** Total time it has been paused. */
  pausedMs: number;
  props?: Props;
  result?: string;
  failure?: Failure;
}

/** Must match the condition of the index `turns_open` exactly; otherwise SQLite scans all turns. */
const openCondition = "status IN ('queued', 'running', 'paused')";

/** An agent's turns: a projection of its log. */
export class Turns {
  readonly #sql: SqlStorage;
  /** Whether the running turn was resumed and has made no progress since. Read on first use. */
  #isRetryingCached: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    const at = Date.parse(event.ts);
    const sql = this.#sql;
    switch (event.type) {
      case "request.accepted": {
        const { runId, idempotencyKey, mode, joined, messages, props } = event.data;
        sql.exec(
          "INSERT INTO inputs (key, turn, message) VALUES (?, ?, ?)",
          idempotencyKey,
          runId,
          messages.at(-1)?.id ?? "",
        );
        if (joined) return;
        sql.exec(
          "INSERT INTO turns (id, number, status, first, admitted_at, props) VALUES (?, ?, 'queued', ?, ?, ?)",
          runId,
          event.seq,
          mode === "interrupt" ? 1 : 0,
          at,
          props ? JSON.stringify(props) : null,
        );
        return;
      }
      case "message.requeued": {
        const { runId, fromRunId, messageIds } = event.data;
        sql.exec(
          "INSERT INTO turns (id, number, status, admitted_at) VALUES (?, ?, 'queued', ?)",
          runId,
          event.seq,
          at,
        );
        sql.exec(
          "UPDATE inputs SET turn = ? WHERE turn = ? AND message IN (SELECT value FROM json_each(?))",
          runId,
          fromRunId,
          JSON.stringify(messageIds),
        );
        return;
      }
      case "run.started": {
        const { runId, model, boot } = event.data;
        sql.exec(
          "UPDATE turns SET status = 'running', step = 1, started_at = ?, model = ?, boot = ? WHERE id = ?",
          at,
          model,
          boot,
          runId,
        );
        return;
      }
      case "run.tick":
        // `run.started` has already set the first step.
        if (event.data.step === 1) return;
        sql.exec("UPDATE turns SET step = ? WHERE id = ?", event.data.step, event.data.runId);
        return;
      case "run.paused":
        sql.exec(
          "UPDATE turns SET status = 'paused', paused_at = ?, paused_for = ? WHERE id = ?",
          at,
          event.data.reason,
          event.data.runId,
        );
        return;
      case "run.resumed": {
        const { runId, attempt, crashes, boot } = event.data;
        this.#isRetryingCached = attempt > 0;
        sql.exec(
          `UPDATE turns SET status = 'running', attempt = ?, crashes = ?, boot = ?,
            paused_ms = paused_ms + coalesce(? - paused_at, 0), paused_at = NULL, paused_for = NULL WHERE id = ?`,
          attempt,
          crashes,
          boot,
          at,
          runId,
        );
        return;
      }
      case "model.completed":
      case "reply.completed":
      case "tool.output":
        if (!this.#isRetrying()) return;
        this.#isRetryingCached = false;
        sql.exec("UPDATE turns SET attempt = 0, crashes = 0 WHERE id = ? AND attempt > 0", event.data.runId);
        return;
      case "agent.completed":
        sql.exec(
          "UPDATE turns SET status = 'completed', ended_at = ?, result = ? WHERE id = ?",
          at,
          event.data.result,
          event.data.runId,
        );
        return;
      case "agent.error": {
        const { runId, error, code, advice, budget } = event.data;
        const failure: Failure = { code, message: error, ...(advice ? { advice } : {}), ...(budget ? { budget } : {}) };
        sql.exec(
          "UPDATE turns SET status = 'error', ended_at = ?, failure = ? WHERE id = ?",
          at,
          JSON.stringify(failure),
          runId,
        );
        return;
      }
      case "run.canceled":
        sql.exec("UPDATE turns SET status = 'canceled', ended_at = ? WHERE id = ?", at, event.data.runId);
        return;
      case "history.cleared":
        this.empty();
        return;
      default:
    }
  }

  #isRetrying(): boolean {
    this.#isRetryingCached ??= (this.getRunning()?.attempt ?? 0) > 0;
    return this.#isRetryingCached;
  }

  empty(): void {
    this.#isRetryingCached = undefined;
    this.#sql.exec("DELETE FROM turns");
    this.#sql.exec("DELETE FROM inputs");
  }

  /** Returns what was admitted under this idempotency key. */
  findAdmission(key: string): { turn: string; message: string } | undefined {
    return this.#sql
      .exec<{ turn: string; message: string }>("SELECT turn, message FROM inputs WHERE key = ?", key)
      .toArray()[0];
  }

  get(id: string): TurnRow | undefined {
    const [row] = this.#sql.exec<Row>("SELECT * FROM turns WHERE id = ?", id).toArray();
    return row && toTurn(row);
  }

  getRunning(): TurnRow | undefined {
    const [row] = this.#sql
      .exec<Row>(`SELECT * FROM turns WHERE ${openCondition} AND status = 'running' LIMIT 1`)
      .toArray();
    return row && toTurn(row);
  }

  /** Returns the turn that waits for a tool result, if any. */
  getPaused(): TurnRow | undefined {
    const [row] = this.#sql
      .exec<Row>(`SELECT * FROM turns WHERE ${openCondition} AND status = 'paused' LIMIT 1`)
      .toArray();
    return row && toTurn(row);
  }

  /** Returns the turn to work on, but for these: the started one; else the latest interrupt; else the first in the queue. */
  getNext(except: readonly string[] = []): TurnRow | undefined {
    const [row] = this.#sql
      .exec<Row>(
        `SELECT * FROM turns WHERE ${openCondition} AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY status IN ('running', 'paused') DESC, first DESC, CASE first WHEN 1 THEN -number ELSE number END LIMIT 1`,
        JSON.stringify(except),
      )
      .toArray();
    return row && toTurn(row);
  }

  /** Returns the turn that would run last. */
  getLastQueued(): TurnRow | undefined {
    const [row] = this.#sql
      .exec<Row>(
        `SELECT * FROM turns WHERE ${openCondition} AND status = 'queued' AND first = 0 ORDER BY number DESC LIMIT 1`,
      )
      .toArray();
    return row && toTurn(row);
  }

  countQueued(): number {
    return this.#sql
      .exec<{ n: number }>(`SELECT count(*) AS n FROM turns WHERE ${openCondition} AND status = 'queued'`)
      .one().n;
  }

  /** Returns how many turns are ahead of this one; 0 if it is running or over. */
  getPosition(id: string): number {
    const [ahead] = this.#sql
      .exec<{ n: number }>(
        `SELECT count(*) AS n FROM turns, (SELECT first AS f, number AS m FROM turns WHERE id = ? AND status = 'queued')
         WHERE ${openCondition} AND (status IN ('running', 'paused') OR first > f OR (first = f AND CASE f WHEN 1 THEN number > m ELSE number < m END))`,
        id,
      )
      .toArray();
    return ahead?.n ?? 0;
  }

  /** Returns the running turn, or else the latest one. */
  getRun(agent: string): Run {
    const row = this.#sql
      .exec<Row>(
        // Turns end almost in the order of arrival, so the last one to end is among the latest arrivals.
        `SELECT * FROM (SELECT * FROM turns WHERE status <> 'queued' ORDER BY number DESC LIMIT 100)
         ORDER BY status IN ('running', 'paused') DESC, ended_at DESC, number DESC LIMIT 1`,
      )
      .toArray()[0];
    if (!row) return { runId: agent, status: this.countQueued() > 0 ? "registered" : "idle", step: 0 };
    return toRun(toTurn(row));
  }

  countByStatus(): AgentUsage["turns"] {
    const counts = { completed: 0, error: 0, canceled: 0, open: 0 };
    for (const { status, n } of this.#sql.exec<{ status: TurnStatus; n: number }>(
      "SELECT status, count(*) AS n FROM turns GROUP BY status",
    )) {
      counts[isOver({ status }) ? (status as keyof typeof counts) : "open"] += n;
    }
    return counts;
  }
}

/** Returns whether the turn has its outcome. */
/** Whether a turn waits for an approval or an answer, for however long it takes. */
export function isWaitingForPerson({ status, pausedFor }: TurnRow): boolean {
  return status === "paused" && (pausedFor === "hitl" || pausedFor === "input");
}

export function isOver({ status }: Pick<TurnRow, "status">): boolean {
  return status !== "queued" && status !== "running" && status !== "paused";
}

export function toRun(turn: TurnRow): Run {
  return {
    runId: turn.id,
    status: turn.status === "queued" ? "registered" : turn.status,
    step: turn.step,
    ...(turn.failure ? { reason: turn.failure.message } : turn.pausedFor ? { reason: turn.pausedFor } : {}),
  };
}

function toTurn(row: Row): TurnRow {
  return {
    id: row.id,
    number: row.number,
    status: row.status,
    step: row.step,
    attempt: row.attempt,
    crashCount: row.crashes,
    ...(row.model ? { model: row.model } : {}),
    ...(row.boot ? { boot: row.boot } : {}),
    ...(row.started_at ? { startedAt: row.started_at } : {}),
    pausedMs: row.paused_ms,
    ...(row.paused_for ? { pausedFor: row.paused_for } : {}),
    ...(row.props ? { props: JSON.parse(row.props) as Props } : {}),
    ...(row.result !== null ? { result: row.result } : {}),
    ...(row.failure ? { failure: JSON.parse(row.failure) as Failure } : {}),
  };
}
