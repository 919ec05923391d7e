import type { Report, Standing } from "@thinkery/sdk";
import type { Output } from "./output.ts";
import { standingsTable } from "./standings.ts";
import { costText } from "./talk/lines.ts";

type Figures = Report["total"];

/** What was used, whose shares it is made of, and the limits that hold. */
export interface Usage extends Report {
  shares?: [title: string, rows: (Figures & { name: string })[]];
  budget: Standing[];
}

/** By day and model, on a screen with a bar for each; then the shares, where there are several; then the limits. */
export function usageTable(output: Output, { total, byDay, shares, budget }: Usage, days: number): string {
  const parts: string[] = [];
  if (byDay.length === 0) parts.push(`Nothing was used ${days === 1 ? "today" : `in ${days} days`}.`);
  else {
    const rows = byDay.flatMap(({ day, byModel }) => byModel.map((used, index) => ({ day: index === 0 ? day : "", ...used })));
    const maxTokens = Math.max(...rows.map(tokensOf));
    const lines = rows.map((row) => [row.day, row.model, ...numbers(row), output.toScreen ? bar(tokensOf(row) / maxTokens) : ""]);
    parts.push(output.table(["DAY", "MODEL", "CALLS", "IN", "OUT", "COST", ""], [...lines, ["all", "", ...numbers(total), ""]]));
  }
  if (shares && shares[1].length > 1) {
    const [title, rows] = shares;
    parts.push(output.table([title, "CALLS", "IN", "OUT", "COST"], rows.map((row) => [row.name, ...numbers(row)])));
  }
  if (budget.length > 0) parts.push(standingsTable(output, budget));
  return parts.join("\n\n");
}

function numbers({ calls, inputTokens, outputTokens, costUsd }: Figures): string[] {
  return [String(calls), String(inputTokens), String(outputTokens), costText(costUsd)];
}

const tokensOf = ({ inputTokens, outputTokens }: Figures) => inputTokens + outputTokens;

const widest = 20;

/** What was used at all is seen. */
function bar(share: number): string {
  return share > 0 ? "▇".repeat(Math.max(1, Math.round(share * widest))) : "";
}
