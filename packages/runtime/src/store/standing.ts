import { type BudgetKind, budgetKinds, type BudgetLevel, type Limits, type Standing } from "@thinkery/sdk";
import type { Amounts } from "./spent.ts";

/** How much of each kind that can be budgeted. */
export type Measures = Record<BudgetKind, number>;

export const noMeasures: Measures = { steps: 0, tokens: 0, costUsd: 0, seconds: 0 };

export function measuresOf(spent: Amounts): Measures {
  return { steps: spent.calls, tokens: spent.input_tokens + spent.output_tokens, costUsd: spent.cost_usd, seconds: spent.ms / 1000 };
}

interface Bounded {
  level: BudgetLevel;
  per: Standing["per"];
  limits: Limits;
  spent: Measures;
  /** Set aside for calls that are under way. */
  reserved?: Measures;
}

/** Where each limit of a budget stands. */
export function standingsOf({ level, per, limits, spent, reserved = noMeasures }: Bounded): Standing[] {
  return budgetKinds.flatMap((kind) => {
    const limit = limits[kind];
    return limit === undefined ? [] : [{ level, kind, per, limit, spent: spent[kind], reserved: reserved[kind] }];
  });
}

/** The first limit that leaves nothing for another call. */
export function reached(standings: readonly Standing[]): Standing | undefined {
  return standings.find(({ spent, reserved, limit }) => spent + reserved >= limit);
}

/** What nobody knows of a call: what its model costs, or how many tokens it uses at all. */
export type Unknown = "price" | "usage";

/** The first limit that cannot be kept because of that. */
export function unkeepable(standings: readonly Standing[], unknown: Unknown): Standing | undefined {
  return standings.find(({ kind }) => kind === "costUsd" || (unknown === "usage" && kind === "tokens"));
}
