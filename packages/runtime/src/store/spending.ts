import type { AgentEvent, ClearedUsage, UsageTotal } from "@thinkery/sdk";
import { amountColumns, amounts, amountSums, type Amounts, nothing, type Spent, usageOf } from "./spent.ts";

const added = amounts.map((name) => `${name} = ${name} + excluded.${name}`).join(", ");

/** What an agent has spent, by day and model. The truth for every budget, and kept when its history is cleared. */
export class Spending {
  readonly #sql: SqlStorage;
  /** The rows since a day, once somebody has asked: the agent states them after every turn. */
  #recent: { since: string; rows: Map<string, Spent> } | undefined;
  /** Of all days, once somebody has asked: every statement says it. */
  #inAll: Pick<Amounts, "calls" | "ms"> | undefined;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    const day = event.ts.slice(0, 10);
    switch (event.type) {
      case "model.completed":
      case "model.consulted":
        this.#add(day, event.data.model, callOf(event.data.usage, event.data.ms));
        return;
      case "tool.output":
      case "tool.error":
      case "tool.deferred": {
        const ms = Math.round(event.data.ms);
        // Most tools are done at once, and a write costs.
        if (ms > 0) this.#add(day, "", { ...nothing, ms });
        return;
      }
      case "history.cleared":
        this.empty();
        for (const cleared of event.data.usage) this.#add(cleared.day ?? day, cleared.model, amountsOf(cleared));
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
    this.#inAll = undefined;
    this.#recent = undefined;
  }

  /** Calls and time of all days. */
  inAll(): Pick<Amounts, "calls" | "ms"> {
    const { calls, ms } = (this.#inAll ??= this.total());
    return { calls, ms };
  }

  /** Everything since that day, it included. */
  rows(since = ""): Spent[] {
    return this.#sql.exec<Spent>("SELECT * FROM spending WHERE day >= ? ORDER BY day, model", since).toArray();
  }

  /** The same for a day that is asked for again and again, from memory. */
  recent(since: string): Spent[] {
    if (this.#recent?.since !== since) {
      this.#recent = { since, rows: new Map(this.rows(since).map((row) => [`${row.day} ${row.model}`, row])) };
    }
    return [...this.#recent.rows.values()].map((row) => ({ ...row }));
  }

  /** All of it, or that of one day, in one sum. */
  total(day?: string): Amounts {
    const [where, ...values] = day === undefined ? [""] : ["WHERE day = ?", day];
    return this.#sql.exec<Amounts & Record<string, number>>(`SELECT ${amountSums} FROM spending ${where}`, ...values).one();
  }

  /** For the event that clears the history: enough to have all of this again. */
  cleared(): ClearedUsage[] {
    return this.rows().map((row) => ({
      day: row.day,
      model: row.model,
      calls: row.calls,
      ms: row.ms,
      ...usageOf(row),
      ...(row.unknown > 0 ? { priced: { calls: row.calls - row.unknown, costUsd: row.cost_usd } } : {}),
    }));
  }

  #add(day: string, model: string, more: Amounts): void {
    this.#remember(day, model, more);
    if (this.#inAll) this.#inAll = { calls: this.#inAll.calls + more.calls, ms: this.#inAll.ms + more.ms };
    this.#sql.exec(
      `INSERT INTO spending (day, model, ${amountColumns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (day, model) DO UPDATE SET ${added}`,
      day,
      model,
      ...amounts.map((name) => more[name]),
    );
  }

  #remember(day: string, model: string, more: Amounts): void {
    if (!this.#recent || day < this.#recent.since) return;
    const { rows } = this.#recent;
    const row: Spent = { ...nothing, ...rows.get(`${day} ${model}`), day, model };
    for (const name of amounts) row[name] += more[name];
    rows.set(`${day} ${model}`, row);
  }
}

function callOf(usage: UsageTotal, ms: number): Amounts {
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

function amountsOf({ calls, ms = 0, priced, ...usage }: ClearedUsage): Amounts {
  const unknown = usage.costUsd === null ? calls - (priced?.calls ?? 0) : 0;
  return { ...callOf(usage, ms), calls, unknown, cost_usd: usage.costUsd ?? priced?.costUsd ?? 0 };
}
