import { type BudgetKind, budgetKinds } from "@thinkery/sdk";
import type { BudgetInput } from "../../api/usage.ts";

/** Input units that differ from those of the host: time is entered in minutes. */
const units: Partial<Record<BudgetKind, number>> = { seconds: 60 };

const multiples: Record<string, number> = { "": 1, k: 1000, m: 1_000_000 };

/** Parses the form values. Text that is not a number is kept, for the host to reject with a message. */
export function parseBudget({ per = "", ...values }: Record<string, string>): BudgetInput {
  const budget: BudgetInput = { per };
  for (const kind of budgetKinds) {
    const text = values[kind];
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

// Removes binary rounding errors, such as those of 3 * 0.1, and makes conversions between units reversible.
function roundTo(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
