import type { BudgetKind, BudgetStatus } from "@thinkery/sdk";
import { formatCost } from "./conversation/lines.ts";
import { formatDuration } from "./duration.ts";
import type { Output } from "./output.ts";

export const kindNames: Record<BudgetKind, string> = {
  steps: "steps",
  tokens: "tokens",
  costUsd: "cost",
  seconds: "time",
};

const levelNames = { turn: "turn", agent: "agent", agency: "agency", user: "you" };

/** Formats limits and how much of each is used. */
export function formatBudgetTable(output: Output, statuses: BudgetStatus[]): string {
  const rows = statuses.map(({ level, kind, per, spent, reserved, limit }) => [
    levelNames[level],
    kindNames[kind],
    per === "ever" ? "total" : per,
    formatAmount(kind, spent),
    reserved > 0 ? formatAmount(kind, reserved) : "-",
    formatAmount(kind, limit),
    `${Math.floor((spent / limit) * 100)}%`,
  ]);
  return output.formatTable(["SCOPE", "KIND", "PERIOD", "SPENT", "RESERVED", "LIMIT", "USED"], rows);
}

export function formatAmount(kind: BudgetKind, amount: number): string {
  if (kind === "costUsd") return formatCost(amount);
  return kind === "seconds" ? formatDuration(amount) : String(amount);
}
