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

/** The owner's books, one level up. */
export interface OwnerBudgetClient {
  reportUsage(statement: UsageReport): Promise<ReservationResult>;
  listBudgetStatuses(): Promise<BudgetStatus[]>;
}

/** The books of one agency: what its agents spend, and its own budget. It states its sums to its owner. */
export class AgencyUsageTotals {
  readonly #storage: DurableObjectStorage;
  readonly #totals: UsageTotals;
  readonly #agency: string;
  readonly #record: AgencyRecord;
  readonly #owner: OwnerBudgetClient;
  /** One statement after the other, so that each says what came of the one before it. */
  #reporting: Promise<unknown> = Promise.resolve();

  constructor(storage: DurableObjectStorage, agency: string, charter: AgencyRecord, owner: OwnerBudgetClient) {
    this.#storage = storage;
    this.#totals = new UsageTotals(storage, "agency");
    this.#agency = agency;
    this.#record = charter;
    this.#owner = owner;
  }

  /** Must an agent ask before it calls a model? */
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

  /** One agent's statement, with what it asks for its next call. */
  async reportUsage(statement: UsageReport): Promise<ReservationResult> {
    const verdict = this.#totals.applyReport(statement);
    if (!statement.asked || verdict.refused || !this.#record.isMetered) return verdict;
    const release = () => this.#totals.release(statement);
    const { refused, unknown } = await this.#reportToOwner(statement.asked).catch((error: unknown) => {
      release();
      throw error;
    });
    if (!refused) return verdict;
    release();
    return { ...verdict, refused, ...(unknown ? { unknown } : {}) };
  }

  /** What several agents have to say that ask for nothing; answers whose days are not all here. */
  async reportUsageBatch(statements: readonly UsageReport[]): Promise<string[]> {
    const incomplete = this.#storage.transactionSync(() =>
      statements.filter((statement) => this.#totals.applyReport(statement).incomplete).map(({ name }) => name),
    );
    await this.#reportToOwner();
    return incomplete;
  }

  /** The last statement of an agent that is being deleted. What it spent stays spent. */
  close(last: UsageReport): void {
    this.#totals.applyReport({ ...last, reserved: noReservation });
  }

  /** Everything, for an owner who is about to delete the agency. */
  createFullReport(): UsageReport {
    return { ...this.#totals.createReport(this.#getAccount(), ""), reserved: noReservation };
  }

  reportToOwner(): Promise<unknown> {
    return this.#reportToOwner();
  }

  async listBudgetStatuses(): Promise<BudgetStatus[]> {
    return [
      ...this.#totals.listBudgetStatuses(),
      ...(this.#record.isMetered ? await this.#owner.listBudgetStatuses() : []),
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

  #reportToOwner(asked?: ReservationRequest): Promise<ReservationResult> {
    const report = this.#reporting.then(() => this.#sendReport(asked));
    this.#reporting = report.catch(() => {});
    return report;
  }

  async #sendReport(asked?: ReservationRequest): Promise<ReservationResult> {
    const recent = this.#totals.createReport(this.#getAccount(), formatDay(Date.now() - 86_400_000));
    const verdict = await this.#owner.reportUsage({ ...recent, ...(asked ? { asked } : {}) });
    if (!verdict.incomplete) return verdict;
    const whole = this.#totals.createReport(this.#getAccount(), "");
    await this.#owner.reportUsage(
      verdict.refused ? { ...whole, reserved: subtractReservation(whole.reserved, asked) } : whole,
    );
    return verdict;
  }

  #getAccount(): Account {
    return { name: this.#agency, since: this.#record.createdAt };
  }
}
