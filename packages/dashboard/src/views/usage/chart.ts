import type { UsageBreakdown } from "@thinkery/sdk";

const dayMs = 86_400_000;

/** More models are hard to tell apart; the least used are combined into one series. */
const maxModels = 5;

export interface Column {
  /** 2026-11-15, in UTC. */
  day: string;
  total: number;
  /** Tokens per model, in the order of `models`. */
  parts: number[];
  costUsd: number | null;
  calls: number;
}

export interface Chart {
  columns: Column[];
  /** Most used first. With many models, the last entry combines the rest. */
  models: string[];
  /** Top of the scale. */
  top: number;
}

const otherLabel = "other";

/** One column per day, including days without usage. */
export function buildChart(
  { byDay, byModel }: Pick<UsageBreakdown, "byDay" | "byModel">,
  days: number,
  now: number,
): Chart {
  const names = byModel.map(({ model }) => model);
  const models = names.length > maxModels ? [...names.slice(0, maxModels - 1), otherLabel] : names;
  const used = new Map(byDay.map((entry) => [entry.day, entry]));
  // The host's clock may already be in the next day.
  const today = [formatDay(now), ...used.keys()].toSorted().at(-1) ?? formatDay(now);
  const columns = Array.from({ length: days }, (_, index): Column => {
    const name = formatDay(Date.parse(today) - (days - 1 - index) * dayMs);
    const entry = used.get(name);
    const parts = models.map(() => 0);
    for (const { model, inputTokens, outputTokens } of entry?.byModel ?? []) {
      const found = models.indexOf(model);
      const position = found < 0 ? models.length - 1 : found;
      parts[position] = (parts[position] ?? 0) + inputTokens + outputTokens;
    }
    return {
      day: name,
      total: parts.reduce((sum, part) => sum + part, 0),
      parts,
      costUsd: entry?.costUsd ?? (entry ? null : 0),
      calls: entry?.calls ?? 0,
    };
  });
  return { columns, models, top: roundUp(Math.max(...columns.map(({ total }) => total))) };
}

function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Rounds up to a number that is easy to read and to halve. */
function roundUp(value: number): number {
  if (value <= 10) return 10;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}
