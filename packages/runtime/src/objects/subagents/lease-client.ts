import type { BudgetStatus, DaySpending } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import type { UnknownAmount } from "../../store/budget-status.ts";
import { getTaskUsage } from "../../store/turn-usage.ts";
import type { TurnRow } from "../../store/turns.ts";
import {
  addReservations,
  type Reservation,
  type ReservationRequest,
  subtractReservation,
} from "../../store/usage-totals.ts";
import { selectChangedDays, type SpendingStatement } from "../../turn/budget/child-leases.ts";
import { OpenReservations } from "../../turn/budget/open-reservations.ts";
import { TurnError } from "../../turn/turn-error.ts";
import type { Assignment } from "./assignment.ts";

/** The call that a sub-agent asks its parent for. */
export interface LeasedCall {
  call: ReservationRequest;
  /** Whether it is part of the delegated task, as opposed to a conversation with somebody else. */
  isTask: boolean;
}

export interface LeaseResult {
  refused?: BudgetStatus;
  unknown?: UnknownAmount;
  /** Nothing limits the sub-agent. */
  isUnlimited?: true;
  /** What the call does not use should be returned at once. */
  isTight?: true;
  /** The task was cancelled. */
  isOver?: true;
}

/** What a sub-agent calls on its parent to spend anything of its budgets. */
export interface LeasingParent {
  updateLease(
    sender: Pick<Assignment, "taskId" | "token">,
    statement: SpendingStatement,
    call?: LeasedCall,
  ): Promise<LeaseResult>;
}

interface LeaseClientOptions {
  store: AgentStore;
  /** What the agent was created for. */
  task(): {
    find(): Assignment | undefined;
    findTurn(): TurnRow | undefined;
    /** Whether the parent has the report. */
    readonly isReported: boolean;
  };
  openParent(): Promise<LeasingParent>;
  /** Records everything that was spent. */
  flush(): void;
  /** Called when the parent no longer wants the task done. */
  onOver(token: string): void;
  waitUntil(work: Promise<unknown>): void;
}

/** Delays before a parent that does not respond is asked again. */
const retryDelaysMs = [50, 500];
/** How long a parent's word is taken that nothing limits a conversation beside the task. */
const unlimitedMs = 30_000;

/**
 * Leases of a sub-agent: before each model call of it, or of one below it, it asks its parent, and says what was spent.
 * The parent asks its own, so every agent above has room for the call when it is made.
 */
export class LeaseClient {
  readonly #options: LeaseClientOptions;
  /** Reserved for own calls in progress. */
  readonly #own = new OpenReservations();
  /** What the parent knows; undefined after a wake. */
  #told: { days: Map<string, DaySpending>; rest: string } | undefined;
  #unlimitedUntil = 0;
  #isTight = false;
  #asking: Promise<unknown> = Promise.resolve();

  constructor(options: LeaseClientOptions) {
    this.#options = options;
  }

  /** Whether the agent's own next call needs a lease. */
  get isNeeded(): boolean {
    return this.needsLease(!this.#options.task().isReported);
  }

  /** Whether a call needs a lease: for the task, if the parent said so when it delegated. */
  needsLease(isTask: boolean): boolean {
    const assignment = this.#options.task().find();
    if (!assignment) return false;
    return isTask ? assignment.isLeased === true : Date.now() >= this.#unlimitedUntil;
  }

  /** Whether a turn of the agent is the one that the parent delegated. */
  isTask(runId: string | undefined): boolean {
    return runId !== undefined && this.#options.task().findTurn()?.id === runId;
  }

  /** Leases what a call of the agent itself may spend. */
  leaseOwn(call: ReservationRequest): Promise<LeaseResult> {
    return this.#enqueue(async () => {
      this.#own.add(call);
      try {
        const result = await this.#ask({ call, isTask: !this.#options.task().isReported });
        if (result.refused) this.#own.release(call);
        return result;
      } catch (error) {
        this.#own.release(call);
        throw error;
      }
    });
  }

  /** Leases what a call of a sub-agent below may spend. It is leased to that one already. */
  leaseForChild(call: ReservationRequest, isTask: boolean): Promise<LeaseResult> {
    return this.#enqueue(() => this.#ask({ call, isTask }));
  }

  /** Releases an own call. Unless others need it, the parent learns of it with the next request, pause or report. */
  release(call: Reservation): void {
    this.#own.release(call);
    if (this.#isTight) this.tellSoon();
  }

  /** Returns the rest of the lease when no turn runs. */
  releaseAll(): void {
    this.#own.releaseAll();
    const task = this.#options.task();
    // At the end of the task, the report returns it.
    const isPaused = task.find()?.isLeased && task.findTurn()?.status === "paused";
    if (isPaused || task.isReported) this.tellSoon();
  }

  /** Tells the parent what it does not know, in the background. */
  tellSoon(): void {
    this.#options.waitUntil(
      this.#tell().catch((error: unknown) => console.error("the rest of a lease was not returned", error)),
    );
  }

  /** Returns everything that the parent does not know. */
  createStatement(): SpendingStatement {
    const { store, task, flush } = this.#options;
    flush();
    const runId = task().findTurn()?.id;
    const days = store.childSpending.readAllDays();
    const statement = {
      days: this.#told ? selectChangedDays(days, this.#told.days) : days,
      reserved: addReservations(this.#own.total, store.childSpending.sumLeases()),
    };
    if (runId === undefined) return statement;
    return { ...statement, usage: getTaskUsage(store, runId) };
  }

  /** Notes that the parent has received a statement. */
  noteTold({ days, usage, reserved }: SpendingStatement): void {
    const known = this.#told?.days ?? new Map<string, DaySpending>();
    for (const day of days) known.set(day.day, day);
    this.#told = { days: known, rest: JSON.stringify([usage, reserved]) };
  }

  /** Called by the heartbeat. Returns whether the parent knows everything; until the report, that tells it. */
  async tellIfDue(): Promise<boolean> {
    if (!this.#options.task().isReported) return true;
    try {
      await this.#tell();
      return true;
    } catch (error) {
      console.error("spending did not reach the parent; it is sent again", error);
      return false;
    }
  }

  #tell(): Promise<void> {
    return this.#enqueue(async () => {
      const { days, usage, reserved } = this.createStatement();
      if (days.length > 0 || this.#told?.rest !== JSON.stringify([usage, reserved])) await this.#send(undefined);
    });
  }

  /** One request at a time: each contains everything leased so far. */
  #enqueue<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#asking.then(work);
    this.#asking = result.catch(() => {});
    return result;
  }

  async #ask(leased: LeasedCall): Promise<LeaseResult> {
    for (const ms of [...retryDelaysMs, undefined]) {
      try {
        const result = await this.#send(leased);
        if (result.isUnlimited && !leased.isTask) this.#unlimitedUntil = Date.now() + unlimitedMs;
        if (!result.isOver) return result;
      } catch (error) {
        console.error("a lease could not be requested", error);
        if (ms !== undefined) await new Promise((resolve) => setTimeout(resolve, ms));
        continue;
      }
      this.#options.onOver(this.#options.task().find()?.token ?? "");
      throw new TurnError("internal", "The agent that delegated this has canceled it.");
    }
    throw new TurnError(
      "internal",
      "The budget could not be checked because the agent that delegated this did not respond.",
      "Send the message again.",
    );
  }

  async #send(leased: LeasedCall | undefined): Promise<LeaseResult> {
    const assignment = this.#options.task().find();
    if (!assignment) return {};
    const { taskId, token } = assignment;
    const parent = await this.#options.openParent();
    const statement = this.createStatement();
    const result = await parent.updateLease({ taskId, token }, statement, leased);
    // It has noted nothing.
    if (result.isUnlimited || result.isOver) return result;
    const reserved =
      leased && result.refused ? subtractReservation(statement.reserved, leased.call) : statement.reserved;
    this.noteTold({ ...statement, reserved });
    if (leased) this.#isTight = result.isTight === true;
    return result;
  }
}
