import type { AgentAddress } from "@thinkery/sdk";
import type { AgentStore } from "../store/agent-store.ts";
import {
  type ReservationRequest,
  noReservation,
  addReservations,
  type Reservation,
  type UsageReport,
  type ReservationResult,
  subtractReservation,
} from "../store/usage-totals.ts";
import { formatDay } from "../store/usage.ts";
import type { BudgetClient } from "../turn/budget/budget-client.ts";
import { TurnError } from "../turn/turn-error.ts";
import type { Env } from "./env.ts";
import type { Registration } from "./registration.ts";
import { type ReportDelivery, sendReport, queueReport } from "./usage-reports.ts";

interface AgencyBudgetClientOptions {
  env: Env;
  store: AgentStore;
  address: AgentAddress;
  registration: Registration;
  /** Has the agent to ask before it spends? */
  isMetered(): boolean | Promise<boolean>;
}

/** An agency that does not answer is asked again after these. */
const retryDelaysMs = [50, 500];

/** How an agent states to its agency what it spends: before a call where it has to ask, else some time after its turn. */
export class AgencyBudgetClient implements BudgetClient {
  readonly #options: AgencyBudgetClientOptions;
  #reserved: Reservation = noReservation;
  /** May the agency have something set aside for us? */
  #hasReservation = false;
  /** Counts rests: what was asked for before one is not set aside after it. */
  #releases = 0;
  /** Counts what is sent, to know the latest by; and whether that one has arrived, which nobody knows after a wake. */
  #deliveries = 0;
  #isDelivered = false;
  /** The agency has not all our days. */
  #isIncomplete = false;
  #reserving: Promise<unknown> = Promise.resolve();

  constructor(options: AgencyBudgetClientOptions) {
    this.#options = options;
  }

  isMetered(): boolean | Promise<boolean> {
    return this.#options.isMetered();
  }

  /** One question at a time: each says all that is set aside by then. */
  reserve(call: ReservationRequest): Promise<ReservationResult> {
    const answer = this.#reserving.then(() => this.#reserve(call));
    this.#reserving = answer.catch(() => {});
    return answer;
  }

  release(call: Reservation): void {
    this.#reserved = subtractReservation(this.#reserved, call);
  }

  /** Nothing more is done: nothing is set aside, and the agency hears of it at once where others may wait for that. */
  releaseAll(): void {
    this.#releases++;
    this.#reserved = noReservation;
    const { env } = this.#options;
    if (this.#hasReservation) void sendReport(env, this.#createDelivery());
    else queueReport(env, this.#createDelivery());
    this.#hasReservation = false;
  }

  /** Every now and then. Answers whether the agency has heard all there is to say. */
  async reportIfDue(busy: boolean): Promise<boolean> {
    const { env } = this.#options;
    if (busy) {
      // What a long turn has spent so far; where it has to ask, it has said so.
      if (!this.#hasReservation) queueReport(env, this.#createDelivery());
      return false;
    }
    if (!this.#isDelivered || this.#isIncomplete) await sendReport(env, this.#createDelivery());
    return this.#isDelivered && !this.#isIncomplete;
  }

  /** All days: the last statement of an agent that is deleted. */
  createFullReport(): UsageReport {
    return this.#createReport("");
  }

  async #reserve(call: ReservationRequest): Promise<ReservationResult> {
    const rests = this.#releases;
    this.#hasReservation = true;
    const first = await this.#askAgency(call, getYesterday());
    // Days that are missing there would not be counted.
    const verdict = first.incomplete ? await this.#askAgency(call, "") : first;
    if (!verdict.refused && rests === this.#releases) this.#reserved = addReservations(this.#reserved, call);
    return verdict;
  }

  async #askAgency(asked: ReservationRequest, since: string): Promise<ReservationResult> {
    const { env, address } = this.#options;
    for (const ms of [...retryDelaysMs, undefined]) {
      try {
        const statement = { ...this.#createReport(since), reserved: addReservations(this.#reserved, asked), asked };
        return await env.Agency.getByName(address.agency).reportUsage(statement);
      } catch (error) {
        console.error("the agency could not be asked", error);
        if (ms !== undefined) await new Promise((resolve) => setTimeout(resolve, ms));
      }
    }
    throw new TurnError(
      "internal",
      "The agency could not be asked whether its budget has room.",
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
      inAll: spending.getTotals(),
      reserved: this.#reserved,
    };
  }
}

const getYesterday = () => formatDay(Date.now() - 86_400_000);
