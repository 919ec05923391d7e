import type { BudgetKind, Standing } from "@thinkery/sdk";
import { formatDuration } from "./duration.ts";
import type { Output } from "./output.ts";
import { costText } from "./talk/lines.ts";

export const kindNames: Record<BudgetKind, string> = { steps: "steps", tokens: "tokens", costUsd: "cost", seconds: "time" };

const whose = { turn: "turn", agent: "agent", agency: "agency", user: "you" };

/** Limits and how far they are used up. */
export function standingsTable(output: Output, standings: Standing[]): string {
  const rows = standings.map(({ level, kind, per, spent, reserved, limit }) => [
    whose[level],
    kindNames[kind],
    per === "ever" ? "for good" : `a ${per}`,
    amountText(kind, spent),
    reserved > 0 ? amountText(kind, reserved) : "-",
    amountText(kind, limit),
    `${Math.floor((spent / limit) * 100)} %`,
  ]);
  return output.table(["BUDGET", "OF", "PER", "SPENT", "SET ASIDE", "LIMIT", "USED"], rows);
}

export function amountText(kind: BudgetKind, amount: number): string {
  if (kind === "costUsd") return costText(amount);
  return kind === "seconds" ? formatDuration(amount) : String(amount);
}
