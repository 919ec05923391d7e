import type { BudgetLevel, BudgetStatus, DaySpending, Limits, SubagentUsage } from "@thinkery/sdk";
import {
  createBudgetStatuses,
  findReachedLimit,
  findUnenforceableLimit,
  type Measures,
  type UnknownAmount,
} from "../../store/budget-status.ts";
import { type Reservation, type ReservationRequest, subtractReservation } from "../../store/usage-totals.ts";

/**
 * What a sub-agent tells its parent about itself and everyone below it. It contains sums, not differences, so one that
 * was lost or delivered twice is corrected by the next.
 */
export interface SpendingStatement {
  /** Spent on the delegated task. Unknown if the sub-agent's conversation was cleared. */
  usage?: SubagentUsage;
  /** Everything spent on these days; the parent knows the others. */
  days: DaySpending[];
  /** What calls in progress may spend. */
  reserved: Reservation;
}

/** Asks a parent for a lease: what a call may spend, in addition to everything leased before. */
export interface LeaseRequest {
  /** `reserved` includes the call. */
  statement: SpendingStatement;
  call: ReservationRequest;
}

/** A budget of the parent, and what everyone but the sub-agent has spent and reserved of it. */
export interface LeasingBudget {
  level: Extract<BudgetLevel, "turn" | "agent">;
  per: BudgetStatus["per"];
  limits: Limits;
  others: { spent: Reservation; reserved: Reservation };
  /** What the sub-agent has spent of it. */
  spent: Reservation;
}

interface LeaseDecision {
  refused?: BudgetStatus;
  /** Set if the lease is refused because the limit could not be enforced. */
  unknown?: UnknownAmount;
  /** What the sub-agent has leased from now on. */
  reserved: Reservation;
  /** Little is left: what a call does not use should be returned at once. */
  isTight: boolean;
}

/**
 * Decides whether a call may be made. As everywhere, one may start if something is left of every limit after what was
 * spent and what all calls in progress may spend.
 */
export function decideLease(budgets: readonly LeasingBudget[], { statement, call }: LeaseRequest): LeaseDecision {
  const held = subtractReservation(statement.reserved, call);
  const statuses = budgets
    .flatMap(({ others, spent, ...budget }) =>
      createBudgetStatuses({
        ...budget,
        spent: addAmounts(others.spent, spent),
        reserved: addAmounts(others.reserved, held),
      }),
    )
    .filter(({ kind }) => kind !== "seconds");
  const unenforceable = call.unknown && findUnenforceableLimit(statuses, call.unknown);
  const refused = unenforceable ?? findReachedLimit(statuses);
  const isTight = statuses.some(({ kind, spent, reserved, limit }) =>
    kind === "seconds" ? false : (spent + reserved + call[kind]) * 2 > limit,
  );
  if (!refused) return { reserved: statement.reserved, isTight };
  return { refused, ...(unenforceable && call.unknown ? { unknown: call.unknown } : {}), reserved: held, isTight };
}

/** Whether sub-agents need leases of a budget. Time is not leased: they work at the same time. */
export function limitsSpending(limits: Limits | undefined): boolean {
  return limits?.steps !== undefined || limits?.tokens !== undefined || limits?.costUsd !== undefined;
}

/** Returns the days that differ from those known already. */
export function selectChangedDays(
  days: readonly DaySpending[],
  known: ReadonlyMap<string, DaySpending>,
): DaySpending[] {
  return days.filter((day) => JSON.stringify(known.get(day.day)) !== JSON.stringify(day));
}

export const toSpent = ({ calls, inputTokens, outputTokens, costUsd }: SubagentUsage): Reservation => ({
  steps: calls,
  tokens: inputTokens + outputTokens,
  costUsd: costUsd ?? 0,
});

function addAmounts(one: Reservation, other: Reservation): Measures {
  return {
    steps: one.steps + other.steps,
    tokens: one.tokens + other.tokens,
    costUsd: one.costUsd + other.costUsd,
    seconds: 0,
  };
}
