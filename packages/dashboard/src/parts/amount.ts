import type { BudgetKind } from "@thinkery/sdk";
import { formatDuration } from "./duration.ts";

/** `840`, `12.4k`, `1.2M`. */
export function formatTokens(count: number): string {
  if (count < 1000) return String(Math.round(count));
  return count < 999_950 ? `${formatDecimal(count / 1000)}k` : `${formatDecimal(count / 1_000_000)}M`;
}

/** `12,440`. */
export function formatNumber(count: number): string {
  return count.toLocaleString("en", { maximumFractionDigits: 0 });
}

/** Dollars, with enough digits that a small cost is not shown as zero. */
export function formatCost(usd: number | null): string {
  if (usd === null) return "cost unknown";
  if (usd === 0) return "$0";
  if (usd < 0.0001) return "<$0.0001";
  return `$${usd < 0.01 ? usd.toFixed(4) : usd < 1 ? usd.toFixed(3) : usd.toFixed(2)}`;
}

/** Like `formatDuration`, but a fraction of a second is not shown as zero. */
export function formatSeconds(seconds: number): string {
  return seconds > 0 && seconds < 1 ? "<1 s" : formatDuration(seconds);
}

export function formatCount(count: number, singular: string, plural = `${singular}s`): string {
  return `${count === 1 ? "1" : formatNumber(count)} ${count === 1 ? singular : plural}`;
}

/** An amount of a budget kind, with its unit. */
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

/** `1.1k of 5k tokens`: names the unit once. */
export function formatUsedAmount(kind: BudgetKind, used: number, limit: number): string {
  if (kind === "tokens") return `${formatTokens(used)} of ${formatAmount(kind, limit)}`;
  if (kind === "steps") return `${formatNumber(used)} of ${formatAmount(kind, limit)}`;
  return `${formatAmount(kind, used)} of ${formatAmount(kind, limit)}`;
}

/** Never rounds down to 0% or up to 100%. */
export function formatPercent(part: number, whole: number): string {
  const percent = (100 * part) / whole;
  if (percent > 0 && percent < 1) return "<1%";
  return `${percent < 100 ? Math.min(99, Math.round(percent)) : Math.round(percent)}%`;
}

export function formatBytes(size: number): string {
  if (size < 1024) return formatCount(size, "byte");
  return size < 1024 * 1024 ? `${formatDecimal(size / 1024)} KB` : `${formatDecimal(size / 1024 / 1024)} MB`;
}

function formatDecimal(value: number): string {
  return value.toFixed(1).replace(/\.0$/, "");
}
