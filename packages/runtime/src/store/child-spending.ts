import type { AgentEvent, DaySpending } from "@thinkery/sdk";
import type { Reservation } from "./usage-totals.ts";
import { type UsageAmounts, zeroAmounts } from "./usage.ts";

interface StoredDay extends Record<string, SqlStorageValue> {
  day: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cost_usd: number;
  unknown: number;
}

const sums = ["calls", "input_tokens", "output_tokens", "cost_usd", "unknown"]
  .map((name) => `coalesce(sum(${name}), 0) AS ${name}`)
  .join(", ");

/** What was spent by sub-agents of a conversation that was cleared. */
const clearedTask = "";

/**
 * What the sub-agents of an agent have spent, each with everyone below it, and what is leased to them. It outlives them
 * and the conversation.
 */
export class ChildSpending {
  readonly #sql: SqlStorage;
  /** Read once per wake: an agent without sub-agents pays nothing for them. */
  #isEmpty: boolean | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    switch (event.type) {
      case "subagent.spent":
      case "subagent.reported":
      case "subagent.closed":
      case "subagent.deleted":
        return this.#replace(event.data.taskId, event.data);
      case "subagent.completed":
        // One that was given up may have a call in progress.
        if (!event.data.unconfirmed) this.#replace(event.data.taskId, event.data);
        return;
      case "history.cleared":
        this.empty();
        this.#replace(clearedTask, { days: event.data.subagents });
        return;
      default:
    }
  }

  empty(): void {
    this.#isEmpty = undefined;
    this.#sql.exec("DELETE FROM subagent_spending");
    this.#sql.exec("DELETE FROM subagent_leases");
  }

  /** Drops the cache after a transaction was rolled back. */
  revert(): void {
    this.#isEmpty = undefined;
  }

  /** Whether no sub-agent has ever spent or leased anything. */
  get isEmpty(): boolean {
    this.#isEmpty ??=
      this.#sql.exec("SELECT 1 FROM subagent_spending UNION ALL SELECT 1 FROM subagent_leases LIMIT 1").toArray()
        .length === 0;
    return this.#isEmpty;
  }

  /** Returns the sum since a day, or of one day; leaves out one sub-agent if it is given. */
  sum({ since = "", until = "~", except }: { since?: string; until?: string; except?: string } = {}): UsageAmounts {
    if (this.isEmpty) return zeroAmounts;
    const query = `SELECT ${sums} FROM subagent_spending WHERE day BETWEEN ? AND ? AND task IS NOT ?`;
    return { ...zeroAmounts, ...this.#sql.exec<StoredDay>(query, since, until, except ?? null).one() };
  }

  /** Returns what is leased to sub-agents, of one turn if it is given; leaves out one if it is given. */
  sumLeases({ turn, except }: { turn?: string | undefined; except?: string } = {}): Reservation {
    const none = { steps: 0, tokens: 0, costUsd: 0 };
    if (this.isEmpty) return none;
    const ofTurn = turn === undefined ? "" : "AND task IN (SELECT task FROM subagents WHERE turn = ?)";
    const query = `SELECT coalesce(sum(steps), 0) AS steps, coalesce(sum(tokens), 0) AS tokens,
      coalesce(sum(cost_usd), 0) AS costUsd FROM subagent_leases WHERE task IS NOT ? ${ofTurn}`;
    const values = [except ?? null, ...(turn === undefined ? [] : [turn])];
    return { ...none, ...this.#sql.exec<Reservation & Record<string, number>>(query, ...values).one() };
  }

  /** Returns what is leased to one sub-agent. */
  getLease(task: string): Reservation | undefined {
    if (this.isEmpty) return undefined;
    const query = "SELECT steps, tokens, cost_usd AS costUsd FROM subagent_leases WHERE task = ?";
    return this.#sql.exec<Reservation & Record<string, number>>(query, task).toArray()[0];
  }

  /** Returns what one sub-agent has spent, by day. */
  readTask(task: string): DaySpending[] {
    return this.isEmpty ? [] : this.#readDays("subagent_spending WHERE task = ?", task);
  }

  /** Returns what all sub-agents have spent, by day. */
  readDays(): DaySpending[] {
    return this.isEmpty ? [] : this.#readDays("subagent_spending");
  }

  /** Returns what the agent itself and all sub-agents have spent, by day. */
  readAllDays(): DaySpending[] {
    const columns = "day, calls, input_tokens, output_tokens, cost_usd, unknown";
    return this.#readDays(
      `(SELECT ${columns} FROM spending WHERE calls > 0 UNION ALL SELECT ${columns} FROM subagent_spending)`,
    );
  }

  #readDays(from: string, ...values: string[]): DaySpending[] {
    return this.#sql
      .exec<StoredDay>(`SELECT day, ${sums} FROM ${from} GROUP BY day ORDER BY day`, ...values)
      .toArray()
      .map(({ day, calls, input_tokens: inputTokens, output_tokens: outputTokens, cost_usd: costUsd, unknown }) => ({
        day,
        calls,
        inputTokens,
        outputTokens,
        costUsd,
        unknown,
      }));
  }

  #replace(
    task: string,
    { days = [], reserved }: { days?: DaySpending[] | undefined; reserved?: Reservation | undefined },
  ): void {
    for (const { day, calls, inputTokens, outputTokens, costUsd, unknown } of days)
      this.#sql.exec(
        "INSERT OR REPLACE INTO subagent_spending VALUES (?, ?, ?, ?, ?, ?, ?)",
        task,
        day,
        calls,
        inputTokens,
        outputTokens,
        costUsd,
        unknown,
      );
    if (reserved && reserved.steps > 0) {
      const { steps, tokens, costUsd } = reserved;
      this.#sql.exec("INSERT OR REPLACE INTO subagent_leases VALUES (?, ?, ?, ?)", task, steps, tokens, costUsd);
    } else this.#sql.exec("DELETE FROM subagent_leases WHERE task = ?", task);
    this.#isEmpty = undefined;
  }
}
