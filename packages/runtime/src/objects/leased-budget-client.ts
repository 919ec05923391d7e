import type { Reservation, ReservationRequest, ReservationResult } from "../store/usage-totals.ts";
import type { BudgetClient } from "../turn/budget/budget-client.ts";
import type { LeaseClient } from "./subagents/lease-client.ts";

/** The budgets of a sub-agent beyond its own: those of the agents above it, its agency and its user. */
export class LeasedBudgetClient implements BudgetClient {
  readonly #lease: LeaseClient;
  readonly #agency: BudgetClient;
  /** The calls for which budget is reserved, and where. */
  readonly #leased = new WeakSet<Reservation>();
  readonly #reserved = new WeakSet<Reservation>();

  constructor(lease: LeaseClient, agency: BudgetClient) {
    this.#lease = lease;
    this.#agency = agency;
  }

  isMetered(): boolean | Promise<boolean> {
    return this.#lease.isNeeded || this.#agency.isMetered();
  }

  async reserve(call: ReservationRequest): Promise<ReservationResult> {
    if (this.#lease.isNeeded) {
      const { refused, unknown, isUnlimited } = await this.#lease.leaseOwn(call);
      if (refused) return { refused, ...(unknown ? { unknown } : {}) };
      if (isUnlimited) this.#lease.release(call);
      else this.#leased.add(call);
    }
    if (!(await this.#agency.isMetered())) return {};
    try {
      const result = await this.#agency.reserve(call);
      if (result.refused) this.release(call);
      else this.#reserved.add(call);
      return result;
    } catch (error) {
      this.release(call);
      throw error;
    }
  }

  release(call: Reservation): void {
    if (this.#leased.delete(call)) this.#lease.release(call);
    if (this.#reserved.delete(call)) this.#agency.release(call);
  }
}
