import { type BudgetKind, budgetKinds } from "@thinkery/sdk";
import type { BudgetInput } from "../../api/usage.ts";

/** How a person writes what the host counts: time in minutes. */
const units: Partial<Record<BudgetKind, number>> = { seconds: 60 };

const multiples: Record<string, number> = { "": 1, k: 1000, m: 1_000_000 };

/** The budget as it was written. What is no number is left as it is: the host says what is wrong with it. */
export function parseBudget({ per = "", ...written }: Record<string, string>): BudgetInput {
  const budget: BudgetInput = { per };
  for (const kind of budgetKinds) {
    const text = written[kind];
    if (text !== undefined) budget[kind] = parseNumber(text, units[kind] ?? 1) ?? text;
  }
  return budget;
}

export function formatLimit(kind: BudgetKind, limit: number | undefined): string {
  return limit === undefined ? "" : String(roundTo(limit / (units[kind] ?? 1), 9));
}

function parseNumber(text: string, unit: number): number | undefined {
  const [, sign, digits, multiple = ""] =
    /^(-?)\$?(\d{1,15}(?:\.\d{1,9})?|\.\d{1,9})\s?([kM]?)$/i.exec(text.replaceAll(",", "")) ?? [];
  if (digits === undefined) return undefined;
  return roundTo(Number(`${sign}${digits}`) * (multiples[multiple.toLowerCase()] ?? 1) * unit, 6);
}

// Three times 0.1 is 0.3 everywhere but in binary; and a third of an hour is 20 minutes again.
function roundTo(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
