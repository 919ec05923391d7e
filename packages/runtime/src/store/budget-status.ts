import { type BudgetKind, budgetKinds, type BudgetLevel, type Limits, type BudgetStatus } from "@thinkery/sdk";
import { roundUsd } from "@thinkery/sdk/internal";
import type { UsageAmounts } from "./usage.ts";

/** An amount of each kind that can be budgeted. */
export type Measures = Record<BudgetKind, number>;

export const noMeasures: Measures = { steps: 0, tokens: 0, costUsd: 0, seconds: 0 };

export function toMeasures(spent: UsageAmounts): Measures {
  return {
    steps: spent.calls,
    tokens: spent.input_tokens + spent.output_tokens,
    costUsd: spent.cost_usd,
    seconds: spent.ms / 1000,
  };
}

interface BudgetStatusOptions {
  level: BudgetLevel;
  per: BudgetStatus["per"];
  limits: Limits;
  spent: Measures;
  /** Reserved for calls in progress. */
  reserved?: Measures;
}

/** Returns one status per limit of a budget. */
export function createBudgetStatuses({
  level,
  per,
  limits,
  spent,
  reserved = noMeasures,
}: BudgetStatusOptions): BudgetStatus[] {
  return budgetKinds.flatMap((kind) => {
    const limit = limits[kind];
    if (limit === undefined) return [];
    const round = kind === "costUsd" ? roundUsd : (amount: number) => amount;
    return [{ level, kind, per, limit, spent: round(spent[kind]), reserved: round(reserved[kind]) }];
  });
}

/** Returns the first limit that leaves nothing for another call. */
export function findReachedLimit(statuses: readonly BudgetStatus[]): BudgetStatus | undefined {
  return statuses.find(({ spent, reserved, limit }) => spent + reserved >= limit);
}

/** What is unknown about a call: the price of its model, or even how many tokens it uses. */
export type UnknownAmount = "price" | "usage";

/** Returns the first limit that cannot be enforced because of the unknown amount. */
export function findUnenforceableLimit(
  statuses: readonly BudgetStatus[],
  unknown: UnknownAmount,
): BudgetStatus | undefined {
  return statuses.find(({ kind }) => kind === "costUsd" || (unknown === "usage" && kind === "tokens"));
}
