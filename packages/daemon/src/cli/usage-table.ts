import type { UsageBreakdown, BudgetStatus } from "@thinkery/sdk";
import { formatBudgetTable } from "./budget-table.ts";
import { formatCost } from "./conversation/lines.ts";
import type { Output } from "./output.ts";

type UsageNumbers = Omit<UsageBreakdown["total"], "seconds">;

/** Usage in total and by agent or agency, with the limits that apply. */
export interface Usage extends UsageBreakdown {
  shares?: [title: string, rows: (UsageNumbers & { name: string })[]];
  budget: BudgetStatus[];
}

/** Formats usage by day and model (with bars on a terminal), then the shares if there are several, then the limits. */
export function formatUsageTable(output: Output, { total, byDay, shares, budget }: Usage, days: number): string {
  const parts: string[] = [];
  if (byDay.length === 0) parts.push(`No usage ${days === 1 ? "today" : `in the last ${days} days`}.`);
  else {
    const rows = byDay.flatMap(({ day, byModel }) =>
      byModel.map((usage, index) => ({ day: index === 0 ? day : "", ...usage })),
    );
    const maxTokens = Math.max(...rows.map(sumTokens));
    const lines = rows.map((row) => [
      row.day,
      row.model,
      ...formatNumbers(row),
      output.isTTY ? formatBar(sumTokens(row) / maxTokens) : "",
    ]);
    parts.push(
      output.formatTable(
        ["DAY", "MODEL", "CALLS", "IN", "OUT", "COST", ""],
        [...lines, ["total", "", ...formatNumbers(total), ""]],
      ),
    );
  }
  if (shares && shares[1].length > 1) {
    const [title, rows] = shares;
    parts.push(
      output.formatTable(
        [title, "CALLS", "IN", "OUT", "COST"],
        rows.map((row) => [row.name, ...formatNumbers(row)]),
      ),
    );
  }
  if (budget.length > 0) parts.push(formatBudgetTable(output, budget));
  return parts.join("\n\n");
}

function formatNumbers({ calls, inputTokens, outputTokens, costUsd }: UsageNumbers): string[] {
  return [String(calls), String(inputTokens), String(outputTokens), formatCost(costUsd)];
}

const sumTokens = ({ inputTokens, outputTokens }: UsageNumbers) => inputTokens + outputTokens;

const maxBarChars = 20;

/** Any usage above zero gets at least one character. */
function formatBar(share: number): string {
  return share > 0 ? "▇".repeat(Math.max(1, Math.round(share * maxBarChars))) : "";
}
