import type { AgentEvent, ClearedUsage, UsageTotal } from "@thinkery/sdk";
import {
  amountColumns,
  amountNames,
  amountSums,
  type UsageAmounts,
  zeroAmounts,
  type UsageRow,
  toUsageTotal,
} from "./usage.ts";

const incrementAssignments = amountNames.map((name) => `${name} = ${name} + excluded.${name}`).join(", ");

/** What an agent has spent, by day and model. Source of truth for all budgets; survives clearing the history. */
export class Spending {
  readonly #sql: SqlStorage;
  /** The rows since a day, cached on first use: the agent reports them after every turn. */
  #recent: { since: string; rows: Map<string, UsageRow> } | undefined;
  /** Totals of all days, cached on first use: every report includes them. */
  #totals: Pick<UsageAmounts, "calls" | "ms"> | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    const day = event.ts.slice(0, 10);
    switch (event.type) {
      case "model.completed":
      case "model.generated":
        this.#add(day, event.data.model, toCallAmounts(event.data.usage, event.data.ms));
        return;
      case "tool.output":
      case "tool.error":
      case "tool.deferred": {
        const ms = Math.round(event.data.ms);
        // Most tools finish at once, and a write has a cost.
        if (ms > 0) this.#add(day, "", { ...zeroAmounts, ms });
        return;
      }
      case "history.cleared":
        this.empty();
        for (const cleared of event.data.usage) this.#add(cleared.day ?? day, cleared.model, toAmounts(cleared));
        return;
      default:
    }
  }

  empty(): void {
    this.revert();
    this.#sql.exec("DELETE FROM spending");
  }

  /** Drops the caches after a transaction was rolled back. */
  revert(): void {
    this.#totals = undefined;
    this.#recent = undefined;
  }

  /** Returns calls and time of all days. */
  getTotals(): Pick<UsageAmounts, "calls" | "ms"> {
    const { calls, ms } = (this.#totals ??= this.readTotal());
    return { calls, ms };
  }

  /** Returns the rows since a day, inclusive. */
  readRows(since = ""): UsageRow[] {
    return this.#sql.exec<UsageRow>("SELECT * FROM spending WHERE day >= ? ORDER BY day, model", since).toArray();
  }

  /** Like `readRows`, but cached: for a day that is read again and again. */
  readRecent(since: string): UsageRow[] {
    if (this.#recent?.since !== since) {
      this.#recent = { since, rows: new Map(this.readRows(since).map((row) => [`${row.day} ${row.model}`, row])) };
    }
    return [...this.#recent.rows.values()].map((row) => ({ ...row }));
  }

  /** Returns the sum of one day, or of all days. */
  readTotal(day?: string): UsageAmounts {
    const [where, ...values] = day === undefined ? [""] : ["WHERE day = ?", day];
    return this.#sql
      .exec<UsageAmounts & Record<string, number>>(`SELECT ${amountSums} FROM spending ${where}`, ...values)
      .one();
  }

  /** Returns the data from which `history.cleared` restores this table. */
  createClearedUsage(): ClearedUsage[] {
    return this.readRows().map((row) => ({
      day: row.day,
      model: row.model,
      calls: row.calls,
      ms: row.ms,
      ...toUsageTotal(row),
      ...(row.unknown > 0 ? { priced: { calls: row.calls - row.unknown, costUsd: row.cost_usd } } : {}),
    }));
  }

  #add(day: string, model: string, amounts: UsageAmounts): void {
    this.#updateRecent(day, model, amounts);
    if (this.#totals) this.#totals = { calls: this.#totals.calls + amounts.calls, ms: this.#totals.ms + amounts.ms };
    this.#sql.exec(
      `INSERT INTO spending (day, model, ${amountColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (day, model) DO UPDATE SET ${incrementAssignments}`,
      day,
      model,
      ...amountNames.map((name) => amounts[name]),
    );
  }

  #updateRecent(day: string, model: string, amounts: UsageAmounts): void {
    if (!this.#recent || day < this.#recent.since) return;
    const { rows } = this.#recent;
    const row: UsageRow = { ...zeroAmounts, ...rows.get(`${day} ${model}`), day, model };
    for (const name of amountNames) row[name] += amounts[name];
    rows.set(`${day} ${model}`, row);
  }
}

function toCallAmounts(usage: UsageTotal, ms: number): UsageAmounts {
  return {
    calls: 1,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cached_tokens: usage.cachedInputTokens ?? 0,
    reasoning_tokens: usage.reasoningTokens ?? 0,
    cost_usd: usage.costUsd ?? 0,
    unknown: usage.costUsd === null ? 1 : 0,
    ms: Math.round(ms),
  };
}

function toAmounts({ calls, ms = 0, priced, ...usage }: ClearedUsage): UsageAmounts {
  const unknown = usage.costUsd === null ? calls - (priced?.calls ?? 0) : 0;
  return { ...toCallAmounts(usage, ms), calls, unknown, cost_usd: usage.costUsd ?? priced?.costUsd ?? 0 };
}
