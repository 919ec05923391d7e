import type { AgencyUsage, Budget, BudgetResponse, BudgetStatus } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { AgencyUsageTotals } from "../agency/usage-totals.ts";
import type { ReservationResult, UsageReport } from "../store/usage-totals.ts";

/** What the agents of an agency have spent, and its budget. */
export class UsageApi extends RpcTarget {
  readonly #open: () => Promise<AgencyUsageTotals>;

  constructor(open: () => Promise<AgencyUsageTotals>) {
    super();
    this.#open = open;
  }

  /** Records an agent's usage, and reserves budget for its next call. */
  async report(report: UsageReport): Promise<ReservationResult> {
    return (await this.#open()).reportUsage(report);
  }

  /** Records the usage of several agents. Returns the names of those that should send a full report. */
  async reportBatch(reports: UsageReport[]): Promise<string[]> {
    return (await this.#open()).reportUsageBatch(reports);
  }

  /** Records what deleted sub-agents have spent. Idempotent. */
  async close(reports: UsageReport[]): Promise<void> {
    const usage = await this.#open();
    for (const last of reports) usage.close(last);
  }

  async get(days?: number): Promise<AgencyUsage> {
    return (await this.#open()).getUsage(days);
  }

  async listBudgetStatuses(): Promise<BudgetStatus[]> {
    return (await this.#open()).listBudgetStatuses();
  }

  async getBudget(): Promise<BudgetResponse> {
    return (await this.#open()).getBudget();
  }

  async setBudget(budget: Budget | undefined): Promise<BudgetResponse> {
    const usage = await this.#open();
    usage.budget = budget;
    return usage.getBudget();
  }
}
