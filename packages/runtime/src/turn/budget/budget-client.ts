import type { ReservationRequest, Reservation, ReservationResult } from "../../store/usage-totals.ts";

/** Access to the budgets beyond the agent's own: those of its agency and its user. */
export interface BudgetClient {
  /** Returns whether one of them limits the agent; a promise only if that may have changed. */
  isMetered(): boolean | Promise<boolean>;
  /** Reports what was spent and reserves what a call may take. */
  reserve(call: ReservationRequest): Promise<ReservationResult>;
  /** Releases a call's reservation; their owners learn of it with the next report. */
  release(call: Reservation): void;
}
