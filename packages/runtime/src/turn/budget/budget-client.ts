import type { Asked, Reservation, Verdict } from "../../store/accounts.ts";

/** The budgets beyond the agent's own: those of its agency and its user. */
export interface BudgetClient {
  /** Returns whether one of them limits the agent; a promise only if that may have changed. */
  metered(): boolean | Promise<boolean>;
  /** Reports what was spent and reserves what a call may take. */
  ask(call: Asked): Promise<Verdict>;
  /** Releases a call's reservation; the owners hear of it with the next report. */
  settle(call: Reservation): void;
}
