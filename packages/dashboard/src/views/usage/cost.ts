import type { UsageBreakdown } from "@thinkery/sdk";
import { formatCost } from "../../parts/amount.ts";

interface KnownCost {
  words: string;
  /** Models whose price nobody told the host. */
  unknown: string[];
}

/** One unknown price makes the sum unknown; what the others came to is the least it can be. */
export function describeKnownCost({ total, byModel }: Pick<UsageBreakdown, "total" | "byModel">): KnownCost {
  if (total.costUsd !== null) return { words: formatCost(total.costUsd), unknown: [] };
  const unknown = byModel.filter(({ costUsd }) => costUsd === null).map(({ model }) => model);
  const knownUsd = byModel.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  return { words: knownUsd > 0 ? `at least ${formatCost(knownUsd)}` : "unknown", unknown };
}
