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

/** What an agent has spent, by day and model. The truth for every budget, and kept when its history is cleared. */
export class Spending {
  readonly #sql: SqlStorage;
  /** The rows since a day, once somebody has asked: the agent states them after every turn. */
  #recent: { since: string; rows: Map<string, UsageRow> } | undefined;
  /** Of all days, once somebody has asked: every statement says it. */
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
        // Most tools are done at once, and a write costs.
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

  /** What was added in a transaction that came to nothing was not added. */
  revert(): void {
    this.#totals = undefined;
    this.#recent = undefined;
  }

  /** Calls and time of all days. */
  getTotals(): Pick<UsageAmounts, "calls" | "ms"> {
    const { calls, ms } = (this.#totals ??= this.readTotal());
    return { calls, ms };
  }

  /** Everything since that day, it included. */
  readRows(since = ""): UsageRow[] {
    return this.#sql.exec<UsageRow>("SELECT * FROM spending WHERE day >= ? ORDER BY day, model", since).toArray();
  }

  /** The same for a day that is asked for again and again, from memory. */
  readRecent(since: string): UsageRow[] {
    if (this.#recent?.since !== since) {
      this.#recent = { since, rows: new Map(this.readRows(since).map((row) => [`${row.day} ${row.model}`, row])) };
    }
    return [...this.#recent.rows.values()].map((row) => ({ ...row }));
  }

  /** All of it, or that of one day, in one sum. */
  readTotal(day?: string): UsageAmounts {
    const [where, ...values] = day === undefined ? [""] : ["WHERE day = ?", day];
    return this.#sql
      .exec<UsageAmounts & Record<string, number>>(`SELECT ${amountSums} FROM spending ${where}`, ...values)
      .one();
  }

  /** For the event that clears the history: enough to have all of this again. */
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

  #add(day: string, model: string, more: UsageAmounts): void {
    this.#remember(day, model, more);
    if (this.#totals) this.#totals = { calls: this.#totals.calls + more.calls, ms: this.#totals.ms + more.ms };
    this.#sql.exec(
      `INSERT INTO spending (day, model, ${amountColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (day, model) DO UPDATE SET ${incrementAssignments}`,
      day,
      model,
      ...amountNames.map((name) => more[name]),
    );
  }

  #remember(day: string, model: string, more: UsageAmounts): void {
    if (!this.#recent || day < this.#recent.since) return;
    const { rows } = this.#recent;
    const row: UsageRow = { ...zeroAmounts, ...rows.get(`${day} ${model}`), day, model };
    for (const name of amountNames) row[name] += more[name];
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
