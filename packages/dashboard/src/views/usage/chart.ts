import type { UsageBreakdown } from "@thinkery/sdk";

const dayMs = 86_400_000;

/** More models than that are told apart by nobody; the least used are taken together. */
const maxModels = 5;

export interface Column {
  /** 2026-11-15, in UTC. */
  day: string;
  total: number;
  /** Tokens of each model of the chart, in its order. */
  parts: number[];
  costUsd: number | null;
  calls: number;
}

export interface Chart {
  columns: Column[];
  /** The most used first; the last stands for all others where there are many. */
  models: string[];
  /** The top of the scale. */
  top: number;
}

export const othersLabel = "others";

/** Every day of the chart, also those on which nothing was used. */
export function buildChart(
  { byDay, byModel }: Pick<UsageBreakdown, "byDay" | "byModel">,
  days: number,
  now: number,
): Chart {
  const names = byModel.map(({ model }) => model);
  const models = names.length > maxModels ? [...names.slice(0, maxModels - 1), othersLabel] : names;
  const used = new Map(byDay.map((entry) => [entry.day, entry]));
  // The host may have begun a day that has not begun here.
  const today = [formatDay(now), ...used.keys()].toSorted().at(-1) ?? formatDay(now);
  const columns = Array.from({ length: days }, (_, index): Column => {
    const name = formatDay(Date.parse(today) - (days - 1 - index) * dayMs);
    const own = used.get(name);
    const parts = models.map(() => 0);
    for (const { model, inputTokens, outputTokens } of own?.byModel ?? []) {
      const known = models.indexOf(model);
      const place = known < 0 ? models.length - 1 : known;
      parts[place] = (parts[place] ?? 0) + inputTokens + outputTokens;
    }
    return {
      day: name,
      total: parts.reduce((sum, part) => sum + part, 0),
      parts,
      costUsd: own?.costUsd ?? (own ? null : 0),
      calls: own?.calls ?? 0,
    };
  });
  return { columns, models, top: roundUp(Math.max(...columns.map(({ total }) => total))) };
}

function formatDay(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** To a number that is easily halved and read. */
function roundUp(value: number): number {
  if (value <= 10) return 10;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 1.5, 2, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value) ?? 10) * power;
}
