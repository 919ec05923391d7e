import type { UsageBreakdown, BudgetStatus } from "@thinkery/sdk";
import { formatBudgetTable } from "./budget-table.ts";
import type { Output } from "./output.ts";
import { formatCost } from "./talk/lines.ts";

type UsageNumbers = UsageBreakdown["total"];

/** What was used, whose shares it is made of, and the limits that hold. */
export interface Usage extends UsageBreakdown {
  shares?: [title: string, rows: (UsageNumbers & { name: string })[]];
  budget: BudgetStatus[];
}

/** By day and model, on a screen with a bar for each; then the shares, where there are several; then the limits. */
export function formatUsageTable(output: Output, { total, byDay, shares, budget }: Usage, days: number): string {
  const parts: string[] = [];
  if (byDay.length === 0) parts.push(`Nothing was used ${days === 1 ? "today" : `in ${days} days`}.`);
  else {
    const rows = byDay.flatMap(({ day, byModel }) =>
      byModel.map((used, index) => ({ day: index === 0 ? day : "", ...used })),
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
        [...lines, ["all", "", ...formatNumbers(total), ""]],
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

/** What was used at all is seen. */
function formatBar(share: number): string {
  return share > 0 ? "▇".repeat(Math.max(1, Math.round(share * maxBarChars))) : "";
}
