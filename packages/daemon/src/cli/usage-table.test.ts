import { expect, test } from "vitest";
import { Output } from "./output.ts";
import { type Usage, formatUsageTable } from "./usage-table.ts";

const createOutput = (isTTY: boolean) =>
  new Output({ stdout: { write: () => {}, isTTY }, stderr: { write: () => {} }, env: { NO_COLOR: "1" }, json: false });

const createUsage = (tokens: number, costUsd: number | null) => ({
  inputTokens: tokens,
  outputTokens: 0,
  costUsd,
  calls: 1,
  seconds: 1,
});

const usage: Usage = {
  total: createUsage(1030, null),
  byModel: [],
  byDay: [
    { day: "2026-11-14", ...createUsage(1000, 0.5), byModel: [{ model: "x:big", ...createUsage(1000, 0.5) }] },
    {
      day: "2026-11-15",
      ...createUsage(30, null),
      byModel: [
        { model: "x:big", ...createUsage(29, 0.001) },
        { model: "x:new", ...createUsage(1, null) },
      ],
    },
  ],
  shares: [
    "AGENT",
    [
      { name: "ann", ...createUsage(1000, 0.5) },
      { name: "bob", ...createUsage(30, null) },
    ],
  ],
  budget: [
    { level: "user", kind: "seconds", per: "day", limit: 3600, spent: 90, reserved: 0 },
    { level: "agency", kind: "costUsd", per: "ever", limit: 2, spent: 0.5, reserved: 0.1 },
  ],
};

test("days, models, shares and limits are listed in this order", () => {
  expect(formatUsageTable(createOutput(false), usage, 30).split("\n")).toEqual([
    "DAY         MODEL  CALLS  IN    OUT  COST",
    "2026-11-14  x:big  1      1000  0    $0.50",
    "2026-11-15  x:big  1      29    0    $0.0010",
    "            x:new  1      1     0    unknown",
    "total              1      1030  0    unknown",
    "",
    "AGENT  CALLS  IN    OUT  COST",
    "ann    1      1000  0    $0.50",
    "bob    1      30    0    unknown",
    "",
    "SCOPE   KIND  PERIOD  SPENT   RESERVED  LIMIT  USED",
    "you     time  day     1m 30s  -         1h     2%",
    "agency  cost  total   $0.50   $0.10     $2.00  25%",
  ]);
});

test("on a terminal each line has a bar, and any usage is visible", () => {
  const bars = formatUsageTable(createOutput(true), usage, 30)
    .split("\n")
    .slice(1, 5)
    .map((line) => /▇*$/.exec(line)?.[0].length);
  expect(bars).toEqual([20, 1, 1, 0]);
});

test("without usage there is a message", () => {
  const empty: Usage = { total: createUsage(0, 0), byModel: [], byDay: [], budget: [] };
  expect(formatUsageTable(createOutput(true), empty, 7)).toBe("No usage in the last 7 days.");
  expect(formatUsageTable(createOutput(true), empty, 1)).toBe("No usage today.");
});
