import type { AgentAddress } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import {
  type ReservationRequest,
  addReservations,
  type Reservation,
  type UsageReport,
  type ReservationResult,
} from "../store/usage-totals.ts";
import { formatDay } from "../store/usage.ts";
import type { BudgetClient } from "../turn/budget/budget-client.ts";
import { OpenReservations } from "../turn/budget/open-reservations.ts";
import { TurnError } from "../turn/turn-error.ts";
import type { Env } from "./env.ts";
import type { Registration } from "./registration.ts";
import { type ReportDelivery, sendReport, queueReport } from "./usage-reports.ts";

interface AgencyBudgetClientOptions {
  env: Env;
  store: AgentStore;
  address: AgentAddress;
  registration: Registration;
  /** Whether the agent must reserve budget before it spends. */
  isMetered(): boolean | Promise<boolean>;
}

/** Delays before an agency that does not respond is asked again. */
const retryDelaysMs = [50, 500];

/** Reports an agent's usage to its agency: before each call if it is metered, otherwise some time after the turn. */
export class AgencyBudgetClient implements BudgetClient {
  readonly #options: AgencyBudgetClientOptions;
  readonly #reserved = new OpenReservations();
  /** Whether the agency may hold a reservation for us. */
  #hasReservation = false;
  /** Counts releases: a reservation requested before a release does not count after it. */
  #releases = 0;
  /** Numbers the deliveries, and whether the latest one has arrived (unknown after a wake). */
  #deliveries = 0;
  #isDelivered = false;
  /** Whether the agency lacks some of our days. */
  #isIncomplete = false;
  #reserving: Promise<unknown> = Promise.resolve();

  constructor(options: AgencyBudgetClientOptions) {
    this.#options = options;
  }

  isMetered(): boolean | Promise<boolean> {
    return this.#options.isMetered();
  }

  /** One request at a time: each contains the total reserved so far. */
  reserve(call: ReservationRequest): Promise<ReservationResult> {
    const result = this.#reserving.then(() => this.#reserve(call));
    this.#reserving = result.catch(() => {});
    return result;
  }

  release(call: Reservation): void {
    this.#reserved.release(call);
  }

  /**
   * Releases everything when the agent becomes idle. Reported at once if the agency holds a reservation others may wait
   * for.
   */
  releaseAll(): void {
    this.#releases++;
    this.#reserved.releaseAll();
    const { env } = this.#options;
    if (this.#hasReservation) void sendReport(env, this.#createDelivery());
    else queueReport(env, this.#createDelivery());
    this.#hasReservation = false;
  }

  /** Called by the heartbeat. Returns whether the agency has received everything. */
  async reportIfDue(isBusy: boolean): Promise<boolean> {
    const { env } = this.#options;
    if (isBusy) {
      // Reports what a long turn has spent so far; a metered one reports with each reservation.
      if (!this.#hasReservation) queueReport(env, this.#createDelivery());
      return false;
    }
    if (!this.#isDelivered || this.#isIncomplete) await sendReport(env, this.#createDelivery());
    return this.#isDelivered && !this.#isIncomplete;
  }

  /** Creates a report of all days, the last one of an agent that is deleted. */
  createFullReport(): UsageReport {
    return this.#createReport("");
  }

  async #reserve(call: ReservationRequest): Promise<ReservationResult> {
    const releases = this.#releases;
    this.#hasReservation = true;
    const first = await this.#askAgency(call, getYesterday());
    // Days that the agency lacks would not be counted.
    const result = first.incomplete ? await this.#askAgency(call, "") : first;
    if (!result.refused && releases === this.#releases) this.#reserved.add(call);
    return result;
  }

  async #askAgency(request: ReservationRequest, since: string): Promise<ReservationResult> {
    const { env, address } = this.#options;
    for (const ms of [...retryDelaysMs, undefined]) {
      try {
        const report: UsageReport = {
          ...this.#createReport(since),
          reserved: addReservations(this.#reserved.total, request),
          request,
        };
        return await env.Agency.getByName(address.agency).usage.report(report);
      } catch (error) {
        console.error("budget reservation failed", error);
        if (ms !== undefined) await new Promise((resolve) => setTimeout(resolve, ms));
      }
    }
    throw new TurnError(
      "internal",
      "The budget could not be checked because the agency did not respond.",
      "Send the message again.",
    );
  }

  #createDelivery(): ReportDelivery {
    const number = ++this.#deliveries;
    this.#isDelivered = false;
    return {
      agency: this.#options.address.agency,
      report: this.#createReport(this.#isIncomplete ? "" : getYesterday()),
      onDelivered: (incomplete) => {
        this.#isIncomplete = incomplete;
        if (number === this.#deliveries) this.#isDelivered = true;
      },
    };
  }

  #createReport(since: string): UsageReport {
    const { store, address, registration } = this.#options;
    const { spending, log } = store;
    return {
      name: address.path.join("/"),
      since: Date.parse(registration.get().agent.createdAt),
      version: log.last,
      spent: since === "" ? spending.readRows() : spending.readRecent(since),
      totals: spending.getTotals(),
      reserved: this.#reserved.total,
    };
  }
}

const getYesterday = () => formatDay(Date.now() - 86_400_000);
