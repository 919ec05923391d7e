import { type BudgetKind, budgetKinds, type BudgetLevel, type Limits, type BudgetStatus } from "@thinkery/sdk";
import type { UsageAmounts } from "./usage.ts";

/** How much of each kind that can be budgeted. */
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
  /** Set aside for calls that are under way. */
  reserved?: Measures;
}

/** Where each limit of a budget stands. */
export function createBudgetStatuses({
  level,
  per,
  limits,
  spent,
  reserved = noMeasures,
}: BudgetStatusOptions): BudgetStatus[] {
  return budgetKinds.flatMap((kind) => {
    const limit = limits[kind];
    return limit === undefined ? [] : [{ level, kind, per, limit, spent: spent[kind], reserved: reserved[kind] }];
  });
}

/** The first limit that leaves nothing for another call. */
export function findReachedLimit(statuses: readonly BudgetStatus[]): BudgetStatus | undefined {
  return statuses.find(({ spent, reserved, limit }) => spent + reserved >= limit);
}

/** What nobody knows of a call: what its model costs, or how many tokens it uses at all. */
export type UnknownAmount = "price" | "usage";

/** The first limit that cannot be kept because of that. */
export function findUnenforceableLimit(
  statuses: readonly BudgetStatus[],
  unknown: UnknownAmount,
): BudgetStatus | undefined {
  return statuses.find(({ kind }) => kind === "costUsd" || (unknown === "usage" && kind === "tokens"));
}
