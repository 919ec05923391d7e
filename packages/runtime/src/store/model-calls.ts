import type { AgentEvent, Context, UsageTotal } from "@thinkery/sdk";
import type { UsageAmounts } from "./usage.ts";

const sumColumns = `coalesce(sum(calls), 0) AS calls, coalesce(sum(input_tokens), 0) AS input_tokens, coalesce(sum(output_tokens), 0) AS output_tokens,
  coalesce(sum(cached_tokens), 0) AS cached_tokens, coalesce(sum(reasoning_tokens), 0) AS reasoning_tokens,
  coalesce(sum(cost_usd), 0) AS cost_usd, count(*) - count(cost_usd) AS unknown, coalesce(sum(ms), 0) AS ms`;

interface RecordedCall {
  runId: string;
  step: number;
  model: string;
  usage: UsageTotal;
  ms: number;
  context?: Context;
}

/** Every model call with its usage. */
export class ModelCalls {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    if (event.type === "model.completed" || event.type === "model.generated")
      this.#add(event.seq, event.ts, event.data);
    if (event.type === "history.cleared") this.empty();
  }

  empty(): void {
    this.#sql.exec("DELETE FROM model_calls");
  }

  getTurnAmounts(turn: string): UsageAmounts {
    return this.#sql
      .exec<UsageAmounts & Record<string, number>>(`SELECT ${sumColumns} FROM model_calls WHERE turn = ?`, turn)
      .one();
  }

  /** Returns the tokens of the latest call. */
  getLatest(): { input: number; output: number } | undefined {
    const query =
      "SELECT input_tokens AS input, output_tokens AS output FROM model_calls WHERE number > 0 ORDER BY number DESC LIMIT 1";
    return this.#sql.exec<{ input: number; output: number }>(query).toArray()[0];
  }

  /** Returns how full the context was in the last call that reported it, and the number of its event. */
  getContext(): (Context & { number: number }) | undefined {
    const query = `SELECT number, model, context_used AS used, context_limit AS "limit" FROM model_calls
      WHERE context_limit IS NOT NULL ORDER BY number DESC LIMIT 1`;
    return this.#sql.exec<Context & { number: number }>(query).toArray()[0];
  }

  #add(number: number, ts: string, { runId, step, model, usage, ms, context }: RecordedCall): void {
    this.#sql.exec(
      `INSERT INTO model_calls
        (number, calls, turn, step, model, timestamp, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, ms, context_used, context_limit)
       VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      number,
      runId,
      step,
      model,
      Date.parse(ts),
      usage.inputTokens,
      usage.outputTokens,
      usage.cachedInputTokens ?? 0,
      usage.reasoningTokens ?? 0,
      usage.costUsd,
      Math.round(ms),
      context?.used ?? null,
      context?.limit ?? null,
    );
  }
}
