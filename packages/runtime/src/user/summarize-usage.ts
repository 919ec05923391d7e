import type { UserUsage } from "@thinkery/sdk";
import type { UsageTotals } from "../store/usage-totals.ts";
import { getFirstDay, summarizeUsage, toUsageFigures } from "../store/usage.ts";

/** Summarizes what all agencies of a user have spent in the last days, or ever. */
export function summarizeUserUsage(usage: UsageTotals, days: number | undefined): UserUsage {
  const since = getFirstDay(days, Date.now());
  return {
    ...summarizeUsage(usage.readRows(since)),
    byAgency: usage.readShares(since).map(({ name, since, ...share }) => ({
      agency: name,
      createdAt: new Date(since).toISOString(),
      ...toUsageFigures(share),
    })),
    budget: usage.listBudgetStatuses(),
  };
}
