import type { Budget, BudgetResponse, BudgetStatus, UserUsage } from "@thinkery/sdk";
import { RpcTarget } from "cloudflare:workers";
import type { ReservationResult, UsageReport, UsageTotals } from "../store/usage-totals.ts";
import { getFirstDay, summarizeUsage, toUsageFigures } from "../store/usage.ts";
import type { Limits } from "../user/limits.ts";

interface UserUsageParts {
  usage: UsageTotals;
  limits: Limits;
  /** Called when a budget was set or removed. */
  onBudget(): Promise<void>;
}

/** What the agents of a user have spent, and the user's budget. */
export class UserUsageApi extends RpcTarget {
  readonly #open: () => Promise<UserUsageParts>;

  constructor(open: () => Promise<UserUsageParts>) {
    super();
    this.#open = open;
  }

  /** Records an agency's usage, and reserves budget for an agent's next call. */
  async reportUsage(report: UsageReport): Promise<ReservationResult> {
    return (await this.#open()).usage.applyReport(report);
  }

  async get(days?: number): Promise<UserUsage> {
    const { usage } = await this.#open();
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

  async listBudgetStatuses(): Promise<BudgetStatus[]> {
    return (await this.#open()).usage.listBudgetStatuses();
  }

  async getBudget(): Promise<BudgetResponse> {
    const { usage } = await this.#open();
    return { budget: usage.budget ?? null, statuses: usage.listBudgetStatuses() };
  }

  async setBudget(budget: Budget | undefined): Promise<BudgetResponse> {
    const { usage, limits, onBudget } = await this.#open();
    usage.budget = limits.resolveBudget(budget);
    await onBudget();
    return this.getBudget();
  }
}
