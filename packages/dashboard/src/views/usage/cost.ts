import type { UsageBreakdown } from "@thinkery/sdk";
import { formatCost } from "../../parts/amount.ts";

interface KnownCost {
  text: string;
  /** Models without a known price. */
  unknown: string[];
}

/** One unknown price makes the total unknown; the sum of the others is then the minimum. */
export function describeKnownCost({ total, byModel }: Pick<UsageBreakdown, "total" | "byModel">): KnownCost {
  if (total.costUsd !== null) return { text: formatCost(total.costUsd), unknown: [] };
  const unknown = byModel.filter(({ costUsd }) => costUsd === null).map(({ model }) => model);
  const knownUsd = byModel.reduce((sum, { costUsd }) => sum + (costUsd ?? 0), 0);
  return { text: knownUsd > 0 ? `at least ${formatCost(knownUsd)}` : "unknown", unknown };
}
