import type { AgentEvent, AgentUsage, UsageTotal } from "@thinkery/sdk";

interface Sum extends Record<string, SqlStorageValue> {
  model: string;
  calls: number;
  input: number;
  output: number;
  cached: number;
  reasoning: number;
  cost: number | null;
  unknown: number;
}

const sums = `coalesce(sum(calls), 0) AS calls, coalesce(sum(input_tokens), 0) AS input, coalesce(sum(output_tokens), 0) AS output,
  coalesce(sum(cached_tokens), 0) AS cached, coalesce(sum(reasoning_tokens), 0) AS reasoning,
  coalesce(sum(cost_usd), 0) AS cost, count(*) - count(cost_usd) AS unknown`;

/** Every call to a model with what it used. */
export class ModelCalls {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  apply(event: AgentEvent): void {
    if (event.type === "model.completed") this.#add(event.seq, event.ts, 1, event.data, event.data.usage);
    if (event.type !== "history.cleared") return;
    // What was paid for stays paid for: a cleared history leaves one sum for each model.
    this.empty();
    for (const [index, sum] of event.data.usage.entries()) {
      this.#add(-index - 1, event.ts, sum.calls, { runId: "", step: 0, model: sum.model, ms: 0 }, sum);
    }
  }

  empty(): void {
    this.#sql.exec("DELETE FROM model_calls");
  }

  usage(): Pick<AgentUsage, "total" | "byModel"> {
    const total = this.#sql.exec<Sum>(`SELECT '' AS model, ${sums} FROM model_calls`).one();
    const byModel = this.#sql.exec<Sum>(`SELECT model, ${sums} FROM model_calls GROUP BY model ORDER BY input DESC`).toArray();
    return {
      total: { ...usageOf(total), calls: total.calls },
      byModel: byModel.map((sum) => ({ model: sum.model, calls: sum.calls, ...usageOf(sum) })),
    };
  }

  #add(number: number, ts: string, calls: number, call: { runId: string; step: number; model: string; ms: number }, usage: UsageTotal): void {
    this.#sql.exec(
      `INSERT INTO model_calls
        (number, calls, turn, step, model, timestamp, input_tokens, output_tokens, cached_tokens, reasoning_tokens, cost_usd, ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      number,
      calls,
      call.runId,
      call.step,
      call.model,
      Date.parse(ts),
      usage.inputTokens,
      usage.outputTokens,
      usage.cachedInputTokens ?? 0,
      usage.reasoningTokens ?? 0,
      usage.costUsd,
      Math.round(call.ms),
    );
  }

  ofTurn(turn: string): UsageTotal {
    return usageOf(this.#sql.exec<Sum>(`SELECT '' AS model, ${sums} FROM model_calls WHERE turn = ?`, turn).one());
  }
}

// One unknown price makes a sum unknown: a total that leaves something out would be taken for the truth.
function usageOf(sum: Sum): UsageTotal {
  return {
    inputTokens: sum.input,
    outputTokens: sum.output,
    ...(sum.cached ? { cachedInputTokens: sum.cached } : {}),
    ...(sum.reasoning ? { reasoningTokens: sum.reasoning } : {}),
    costUsd: sum.unknown > 0 ? null : (sum.cost ?? 0),
  };
}
