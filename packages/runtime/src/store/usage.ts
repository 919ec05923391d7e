import type { UsageBreakdown, UsageTotal } from "@thinkery/sdk";
import { roundUsd } from "@thinkery/sdk/internal";

/** The usage of one model on one day, as stored. The time of tools is stored under an empty model. */
export interface UsageRow extends Record<string, SqlStorageValue> {
  /** 2026-11-15, in UTC. */
  day: string;
  model: string;
  calls: number;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  reasoning_tokens: number;
  cost_usd: number;
  /** Calls whose price is unknown; the cost does not include them. */
  unknown: number;
  ms: number;
}

export const amountNames = [
  "calls",
  "input_tokens",
  "output_tokens",
  "cached_tokens",
  "reasoning_tokens",
  "cost_usd",
  "unknown",
  "ms",
] as const;

export type UsageAmounts = Pick<UsageRow, (typeof amountNames)[number]>;

/** SQL: the columns, and their sums. */
export const amountColumns = amountNames.join(", ");
export const amountSums = amountNames.map((name) => `coalesce(sum(${name}), 0) AS ${name}`).join(", ");

export const zeroAmounts: UsageAmounts = {
  calls: 0,
  input_tokens: 0,
  output_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
  cost_usd: 0,
  unknown: 0,
  ms: 0,
};

export function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Returns the first of `days` days that end today; "" for all days. */
export function getFirstDay(days: number | undefined, now: number): string {
  return days === undefined ? "" : formatDay(now - (days - 1) * 86_400_000);
}

export function sumAmounts(rows: readonly UsageAmounts[]): UsageAmounts {
  const total = { ...zeroAmounts };
  for (const row of rows) for (const name of amountNames) total[name] += row[name];
  return total;
}

/** The cost is null if any price is unknown: an incomplete sum would be mistaken for the total. */
export function toUsageTotal(spent: Omit<UsageAmounts, "calls" | "ms">): UsageTotal {
  return {
    inputTokens: spent.input_tokens,
    outputTokens: spent.output_tokens,
    ...(spent.cached_tokens ? { cachedInputTokens: spent.cached_tokens } : {}),
    ...(spent.reasoning_tokens ? { reasoningTokens: spent.reasoning_tokens } : {}),
    costUsd: spent.unknown > 0 ? null : roundUsd(spent.cost_usd),
  };
}

export function toUsageFigures(spent: UsageAmounts): UsageBreakdown["total"] {
  return { ...toUsageTotal(spent), calls: spent.calls, seconds: spent.ms / 1000 };
}

/** Summarizes usage in total, by model (most used first) and by day (latest last). */
export function summarizeUsage(rows: readonly UsageRow[]): UsageBreakdown {
  const byDay = Map.groupBy(rows, ({ day }) => day);
  return {
    total: toUsageFigures(sumAmounts(rows)),
    byModel: summarizeByModel(rows),
    byDay: [...byDay.keys()].sort().map((day) => {
      const dayRows = byDay.get(day) ?? [];
      return { day, ...toUsageFigures(sumAmounts(dayRows)), byModel: summarizeByModel(dayRows) };
    }),
  };
}

function summarizeByModel(rows: readonly UsageRow[]): UsageBreakdown["byModel"] {
  // The empty model holds the time of tools.
  const groups = Map.groupBy(
    rows.filter(({ model }) => model !== ""),
    ({ model }) => model,
  );
  return [...groups]
    .map(([model, modelRows]) => ({ model, ...toUsageFigures(sumAmounts(modelRows)) }))
    .sort((one, other) => other.inputTokens - one.inputTokens || (one.model < other.model ? -1 : 1));
}
