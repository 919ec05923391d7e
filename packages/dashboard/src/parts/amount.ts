import type { BudgetKind } from "@thinkery/sdk";
import { formatDuration } from "./duration.ts";

/** `840`, `12.4k`, `1.2M`. */
export function formatTokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  return count < 999_950 ? `${formatDecimal(count / 1000)}k` : `${formatDecimal(count / 1_000_000)}M`;
}

/** `12,440`: every digit, where there is room for them. */
export function formatNumber(count: number): string {
  return count.toLocaleString("en", { maximumFractionDigits: 0 });
}

/** Dollars with as many digits as it takes to see that it is not nothing. */
export function formatCost(usd: number | null): string {
  if (usd === null) return "cost unknown";
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "under $0.0001";
  return `$${usd < 0.01 ? usd.toFixed(4) : usd < 1 ? usd.toFixed(3) : usd.toFixed(2)}`;
}

/** A time that is not nothing is not shown as nothing. */
export function formatSeconds(seconds: number): string {
  return seconds > 0 && seconds < 1 ? "under 1 s" : formatDuration(seconds);
}

export function formatCount(count: number, one: string, more = `${one}s`): string {
  return `${count === 1 ? "1" : formatNumber(count)} ${count === 1 ? one : more}`;
}

/** So much of what can be budgeted. */
export function formatAmount(kind: BudgetKind, value: number): string {
  switch (kind) {
    case "steps":
      return formatCount(value, "call");
    case "tokens":
      return `${formatTokens(value)} tokens`;
    case "costUsd":
      return formatCost(value);
    case "seconds":
      return formatSeconds(value);
  }
}

/** `1.1k of 5k tokens`: the unit once, where there is one. */
export function formatUsedAmount(kind: BudgetKind, part: number, whole: number): string {
  if (kind === "tokens") return `${formatTokens(part)} of ${formatAmount(kind, whole)}`;
  if (kind === "steps") return `${formatNumber(part)} of ${formatAmount(kind, whole)}`;
  return `${formatAmount(kind, part)} of ${formatAmount(kind, whole)}`;
}

/** How much of the whole; something is never nothing, and not quite all is not all. */
export function formatPercent(part: number, whole: number): string {
  const share = (100 * part) / whole;
  if (share > 0 && share < 1) return "under 1 %";
  return `${share < 100 ? Math.min(99, Math.round(share)) : Math.round(share)} %`;
}

export function formatBytes(size: number): string {
  if (size < 1024) return formatCount(size, "byte");
  return size < 1024 * 1024 ? `${formatDecimal(size / 1024)} KB` : `${formatDecimal(size / 1024 / 1024)} MB`;
}

function formatDecimal(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}
