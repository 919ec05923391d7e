import type { BudgetStatus } from "@thinkery/sdk";
import type { Caller } from "./authenticate.ts";

/** Returns limits without those of the agency's owner: members are not told what all of the owner's agencies spend. */
export function hideUserBudget({ isMember }: Caller, statuses: readonly BudgetStatus[]): BudgetStatus[] {
  return statuses.filter(({ level }) => !isMember || level !== "user");
}
