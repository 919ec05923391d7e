import type { UsageBreakdown } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { buildChart } from "./chart.ts";

const noon = Date.parse("2026-11-15T12:00:00Z");
const figures = { inputTokens: 0, outputTokens: 0, costUsd: 0, calls: 1, seconds: 1 };
const createUsage = (model: string, tokens: number) => ({
  ...figures,
  model,
  inputTokens: tokens - 1,
  outputTokens: 1,
});

function createReport(
  days: Record<string, ReturnType<typeof createUsage>[]>,
): Pick<UsageBreakdown, "byDay" | "byModel"> {
  const models = [...new Set(Object.values(days).flatMap((all) => all.map(({ model }) => model)))];
  return {
    byModel: models.map((model) => createUsage(model, 1)),
    byDay: Object.entries(days).map(([day, byModel]) => ({ ...figures, day, byModel })),
  };
}

test("every day has a column, ending with today, also across the end of a month and a change of clocks", () => {
  const { columns } = buildChart(createReport({}), 30, noon);
  expect(columns).toHaveLength(30);
  expect([columns[0]?.day, columns[14]?.day, columns[15]?.day, columns.at(-1)?.day]).toEqual([
    "2026-10-17",
    "2026-10-31",
    "2026-11-01",
    "2026-11-15",
  ]);
  expect(columns.every(({ total, calls }) => total === 0 && calls === 0)).toBe(true);
});

test("a day's tokens are split by model, and no tokens are lost if there are many models", () => {
  const report = createReport({
    "2026-11-14": [createUsage("a", 100), createUsage("b", 50)],
    "2026-11-15": ["a", "b", "c", "d", "e", "f", "g"].map((model) => createUsage(model, 10)),
  });
  const { columns, models, top } = buildChart(report, 7, noon);
  expect(models).toEqual(["a", "b", "c", "d", "other"]);
  expect(columns.at(-2)?.parts).toEqual([100, 50, 0, 0, 0]);
  expect(columns.at(-1)?.parts).toEqual([10, 10, 10, 10, 30]);
  expect(columns.map(({ total }) => total)).toEqual([0, 0, 0, 0, 0, 150, 70]);
  expect(top).toBe(150);
});

test("an unknown cost stays unknown, and a day without calls costs nothing", () => {
  const report = { byModel: [], byDay: [{ ...figures, costUsd: null, day: "2026-11-15", byModel: [] }] };
  expect(buildChart(report, 2, noon).columns.map(({ costUsd }) => costUsd)).toEqual([0, null]);
});

test("the chart ends with the host's day if that has already begun", () => {
  const { columns } = buildChart(createReport({ "2026-11-16": [createUsage("a", 5)] }), 3, noon);
  expect(columns.map(({ day }) => day)).toEqual(["2026-11-14", "2026-11-15", "2026-11-16"]);
  expect(columns.at(-1)?.total).toBe(5);
});

test("the scale ends at a round number at or above the highest day", () => {
  const tops = [3, 10, 11, 99, 101, 390, 401, 4_001, 12_345].map(
    (tokens) => buildChart(createReport({ "2026-11-15": [createUsage("a", tokens)] }), 1, noon).top,
  );
  expect(tops).toEqual([10, 10, 15, 100, 150, 400, 500, 5_000, 15_000]);
});
