import type { AgencyUsage, Budget, BudgetResponse, BudgetStatus } from "@thinkery/sdk";
import {
  type Account,
  UsageTotals,
  type ReservationRequest,
  noReservation,
  type UsageReport,
  type ReservationResult,
  subtractReservation,
} from "../store/usage-totals.ts";
import { formatDay, toUsageFigures, getFirstDay, summarizeUsage } from "../store/usage.ts";
import type { AgencyRecord } from "./agency-record.ts";
import { bumpRevision } from "./revision.ts";

/** Client for the owner's budget, one level up. */
export interface OwnerBudgetClient {
  reportUsage(report: UsageReport): Promise<ReservationResult>;
  listBudgetStatuses(): Promise<BudgetStatus[]>;
}

/** The usage totals of one agency: what its agents spend, and its own budget. It reports its sums to its owner. */
export class AgencyUsageTotals {
  readonly #storage: DurableObjectStorage;
  readonly #totals: UsageTotals;
  readonly #agency: string;
  readonly #record: AgencyRecord;
  readonly #openOwner: () => OwnerBudgetClient;
  /** Reports are sent one at a time, so that each reflects the result of the one before. */
  #reporting: Promise<unknown> = Promise.resolve();

  constructor(storage: DurableObjectStorage, agency: string, record: AgencyRecord, openOwner: () => OwnerBudgetClient) {
    this.#storage = storage;
    this.#totals = new UsageTotals(storage, "agency");
    this.#agency = agency;
    this.#record = record;
    this.#openOwner = openOwner;
  }

  /** Whether agents must reserve budget before they call a model. */
  get isMetered(): boolean {
    return this.#totals.budget !== undefined || this.#record.isMetered;
  }

  set budget(budget: Budget | undefined) {
    this.#totals.budget = budget;
    bumpRevision(this.#agency);
  }

  getBudget(): BudgetResponse {
    return { budget: this.#totals.budget ?? null, statuses: this.#totals.listBudgetStatuses() };
  }

  /** Applies one agent's report, which may request a reservation for its next call. */
  async reportUsage(report: UsageReport): Promise<ReservationResult> {
    const result = this.#totals.applyReport(report);
    if (!report.request || result.refused || !this.#record.isMetered) return result;
    const release = () => this.#totals.release(report);
    const { refused, unknown } = await this.#reportToOwner(report.request).catch((error: unknown) => {
      release();
      throw error;
    });
    if (!refused) return result;
    release();
    return { ...result, refused, ...(unknown ? { unknown } : {}) };
  }

  /** Applies reports of several agents without requests; returns the names of those with missing days. */
  async reportUsageBatch(reports: readonly UsageReport[]): Promise<string[]> {
    const incomplete = this.#storage.transactionSync(() =>
      reports.filter((report) => this.#totals.applyReport(report).incomplete).map(({ name }) => name),
    );
    await this.#reportToOwner();
    return incomplete;
  }

  /** Applies the last report of an agent that is being deleted. Its spending remains in the totals. */
  close(last: UsageReport): void {
    this.#totals.applyReport({ ...last, reserved: noReservation });
  }

  /** Returns a report of all days, for an owner who is about to delete the agency. */
  createFullReport(): UsageReport {
    return { ...this.#totals.createReport(this.#getAccount(), ""), reserved: noReservation };
  }

  reportToOwner(): Promise<unknown> {
    return this.#reportToOwner();
  }

  async listBudgetStatuses(): Promise<BudgetStatus[]> {
    return [
      ...this.#totals.listBudgetStatuses(),
      ...(this.#record.isMetered ? await this.#openOwner().listBudgetStatuses() : []),
    ];
  }

  async getUsage(days: number | undefined): Promise<AgencyUsage> {
    const since = getFirstDay(days, Date.now());
    return {
      ...summarizeUsage(this.#totals.readRows(since)),
      byAgent: this.#totals.readShares(since).map(({ name, since, ...share }) => ({
        agent: name,
        createdAt: new Date(since).toISOString(),
        ...toUsageFigures(share),
      })),
      budget: await this.listBudgetStatuses(),
    };
  }

  #reportToOwner(request?: ReservationRequest): Promise<ReservationResult> {
    const report = this.#reporting.then(() => this.#sendReport(request));
    this.#reporting = report.catch(() => {});
    return report;
  }

  async #sendReport(request?: ReservationRequest): Promise<ReservationResult> {
    const recent = this.#totals.createReport(this.#getAccount(), formatDay(Date.now() - 86_400_000));
    const result = await this.#openOwner().reportUsage({ ...recent, ...(request ? { request } : {}) });
    if (!result.incomplete) return result;
    const full = this.#totals.createReport(this.#getAccount(), "");
    await this.#openOwner().reportUsage(
      result.refused ? { ...full, reserved: subtractReservation(full.reserved, request) } : full,
    );
    return result;
  }

  #getAccount(): Account {
    return { name: this.#agency, since: this.#record.createdAt };
  }
}
