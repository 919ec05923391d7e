import type { AgentBudget, Failure, BudgetStatus, UsageTotal } from "@thinkery/sdk";
import { pause } from "../../model/pause.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import {
  type Measures,
  toMeasures,
  noMeasures,
  findReachedLimit,
  createBudgetStatuses,
  findUnenforceableLimit,
} from "../../store/budget-status.ts";
import type { ReservationRequest, Reservation } from "../../store/usage-totals.ts";
import { formatDay } from "../../store/usage.ts";
import { getMaxGapMs } from "../limits.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { toFailure, type TurnError } from "../turn-error.ts";
import { createBudgetError, createUnenforceableError } from "./budget-errors.ts";
import { toSpent } from "./child-leases.ts";

interface TurnBudgetOptions {
  agent: string;
  runId: string;
  /** Whether the turn continues after a crash or a pause. */
  isResumed: boolean;
  store: AgentStore;
  deps: Pick<TurnDeps, "config" | "limits" | "budgetClient" | "getCost">;
  /** Aborted when the turn is over. */
  signal: AbortSignal;
  /** Writes the held events: spending must be recorded before a budget is checked. */
  record(): void;
}

/** What was reserved for a call, released when the call ends. */
export interface CallReservation {
  reserved: Reservation;
  /** Whether it was also reserved in the budgets beyond the agent's own. */
  isMetered: boolean;
}

/** For a call that no budget limits. */
const emptyReservation: CallReservation = { reserved: { steps: 0, tokens: 0, costUsd: 0 }, isMetered: false };

/** A call is estimated to use 20% more than the previous one, and at least this many tokens each way. */
const growthFactor = 1.2;
const minTokens = 250;

/** How long a call waits for those of sub-agents. */
const maxWaitMs = 60_000;

/** A call that only lacks what is reserved for calls in progress. */
class BlockedCall {
  readonly error: TurnError;

  constructor(error: TurnError) {
    this.error = error;
  }
}

/** Throws what is anything else. */
function toBlocked(error: unknown): BlockedCall {
  if (error instanceof BlockedCall) return error;
  throw error;
}

/** Whether it is the budget of an agent that delegated. */
const isLeased = ({ agent }: BudgetStatus) => agent !== undefined;

/** What one turn may spend. Opened before every model call and closed after it. */
export class TurnBudget {
  readonly #options: TurnBudgetOptions;
  readonly #budget: AgentBudget;
  readonly #isLimited: boolean;
  #spent: Measures = noMeasures;
  #reserved: Measures = noMeasures;
  /** The reservation for the step's own call, and its model. */
  #step: (CallReservation & { model: string }) | undefined;
  /** Whether the provider did not report the usage of the last call. */
  #isUsageUnknown = false;
  #lastTickAt = Date.now();

  constructor(options: TurnBudgetOptions) {
    this.#options = options;
    const { isResumed, store, runId } = options;
    this.#budget = options.deps.config?.budget ?? {};
    this.#isLimited = Object.keys(this.#budget).length > 0;
    if (!this.#isLimited || !isResumed) return;
    const seconds = this.#budget.seconds === undefined ? 0 : measureElapsed(store, runId) / 1000;
    this.#spent = { ...toMeasures(store.calls.getTurnAmounts(runId)), seconds };
  }

  /** Reserves for the call of a step; again if a different model, at a different price, turns out to be called. */
  openStep(model: string): void | Promise<void> {
    if (this.#step?.model === model) return;
    this.closeStep();
    const opened = this.open(model);
    const assign = (reservation: CallReservation) => {
      this.#step = { ...reservation, model };
    };
    return opened instanceof Promise ? opened.then(assign) : assign(opened);
  }

  closeStep(usage?: UsageTotal): void {
    if (this.#step) this.close(this.#step, usage);
    this.#step = undefined;
  }

  /**
   * Throws if a limit leaves no room for another call. Asynchronous only if budgets beyond the agent's own are asked.
   */
  open(model: string): CallReservation | Promise<CallReservation> {
    try {
      const opened = this.#tryOpen(model);
      return opened instanceof Promise
        ? opened.catch((error: unknown) => this.#waitForRoom(model, toBlocked(error)))
        : opened;
    } catch (error) {
      return this.#waitForRoom(model, toBlocked(error));
    }
  }

  #tryOpen(model: string): CallReservation | Promise<CallReservation> {
    const isMetered = this.#options.deps.budgetClient.isMetered();
    if (isMetered === false && !this.#isLimited) return emptyReservation;
    const reserved = this.#estimate(model);
    if (this.#isLimited) this.#checkLimits(model, reserved);
    return isMetered === false
      ? this.#addReservation({ reserved, isMetered })
      : this.#requestReservation(model, reserved, isMetered);
  }

  /**
   * Calls of sub-agents, or of others that the same agent delegated to, may use less than is reserved for them. So a
   * call that would fit without them waits for them to end.
   */
  async #waitForRoom(model: string, blocked: BlockedCall): Promise<CallReservation> {
    const deadline = Date.now() + maxWaitMs;
    for (let { error } = blocked, ms = 50; ; ms = Math.min(ms * 2, 1000)) {
      if (Date.now() >= deadline) throw error;
      await pause(ms, this.#options.signal);
      try {
        return await this.#tryOpen(model);
      } catch (next) {
        ({ error } = toBlocked(next));
      }
    }
  }

  close({ reserved, isMetered }: CallReservation, usage?: UsageTotal): void {
    if (reserved.steps === 0) return;
    this.#reserved = addMeasures(this.#reserved, reserved, -1);
    if (isMetered) this.#options.deps.budgetClient.release(reserved);
    if (!usage) return;
    const tokens = usage.inputTokens + usage.outputTokens;
    this.#isUsageUnknown = tokens === 0;
    this.#spent = addMeasures(this.#spent, { steps: 1, tokens, costUsd: usage.costUsd ?? 0 });
  }

  /** Returns what is reserved for the turn's own calls in progress, and records everything it spent. */
  measureReserved(): Reservation {
    this.#options.record();
    return this.#reserved;
  }

  /** Returns why the turn must end now, even during a call or a tool, if its time is up. */
  checkTime(now: number): Failure | undefined {
    if (this.#budget.seconds === undefined) return undefined;
    this.#countTime(now);
    const statuses = this.#createTurnStatuses(this.#spent, this.#reserved);
    const expired = statuses.find(({ kind, spent, limit }) => kind === "seconds" && spent >= limit);
    return expired && toFailure(createBudgetError(expired, this.#options.agent));
  }

  async #requestReservation(
    model: string,
    reserved: ReservationRequest,
    isMetered: true | Promise<boolean>,
  ): Promise<CallReservation> {
    if (!(await isMetered))
      return this.#isLimited ? this.#addReservation({ reserved, isMetered: false }) : emptyReservation;
    this.#options.record();
    const { refused, unknown } = await this.#options.deps.budgetClient.reserve(reserved);
    if (refused)
      throw unknown ? createUnenforceableError(refused, unknown, model) : this.#refuse(refused, isLeased(refused));
    return this.#addReservation({ reserved, isMetered: true });
  }

  #addReservation(reservation: CallReservation): CallReservation {
    this.#reserved = addMeasures(this.#reserved, reservation.reserved);
    return reservation;
  }

  /** Checks the limits of the turn and of the agent. */
  #checkLimits(model: string, { unknown }: ReservationRequest): void {
    this.#countTime(Date.now());
    const statuses = [...this.#listTurnStatuses(), ...this.#listAgentStatuses()];
    const unenforceable = unknown && findUnenforceableLimit(statuses, unknown);
    if (unenforceable) throw createUnenforceableError(unenforceable, unknown, model);
    const reached = findReachedLimit(statuses);
    if (reached) throw this.#refuse(reached, this.#options.store.childSpending.sumLeases().steps > 0);
  }

  /** `isShared`: what is reserved, is so for sub-agents as well. */
  #refuse(reached: BudgetStatus, isShared: boolean): TurnError | BlockedCall {
    const error = createBudgetError(reached, this.#options.agent);
    return isShared && reached.spent < reached.limit ? new BlockedCall(error) : error;
  }

  /** Counts what the turn's sub-agents have spent, and what is leased to them. */
  #listTurnStatuses(): BudgetStatus[] {
    const { runId, store } = this.#options;
    if (store.childSpending.isEmpty) return this.#createTurnStatuses(this.#spent, this.#reserved);
    return this.#createTurnStatuses(
      addMeasures(this.#spent, toSpent(store.subagents.sumUsage(runId))),
      addMeasures(this.#reserved, store.childSpending.sumLeases({ turn: runId })),
    );
  }

  #createTurnStatuses(spent: Measures, reserved: Measures): BudgetStatus[] {
    return createBudgetStatuses({ level: "turn", per: "turn", limits: this.#budget, spent, reserved });
  }

  #listAgentStatuses(): BudgetStatus[] {
    if (!this.#budget.agent) return [];
    this.#options.record();
    return listAgentBudgetStatuses(this.#options.store, this.#budget, this.#reserved);
  }

  #estimate(model: string): ReservationRequest {
    const { store, deps } = this.#options;
    const last = store.calls.getLatest();
    const estimateTokens = (tokens = 0) => Math.max(minTokens, Math.ceil(tokens * growthFactor));
    const usage = { inputTokens: estimateTokens(last?.input), outputTokens: estimateTokens(last?.output) };
    const costUsd = deps.getCost(model, usage);
    const unknown = this.#isUsageUnknown ? "usage" : costUsd === undefined ? "price" : undefined;
    return {
      steps: 1,
      tokens: usage.inputTokens + usage.outputTokens,
      costUsd: costUsd ?? 0,
      ...(unknown ? { unknown } : {}),
    };
  }

  #countTime(now: number): void {
    const gap = Math.min(Math.max(0, now - this.#lastTickAt), getMaxGapMs(this.#options.deps.limits));
    this.#lastTickAt = now;
    this.#spent = { ...this.#spent, seconds: this.#spent.seconds + gap / 1000 };
  }
}

/** Returns the status of the budget that a blueprint sets for all turns of an agent, and of its sub-agents, together. */
export function listAgentBudgetStatuses(
  { spending, childSpending }: AgentStore,
  budget: AgentBudget | undefined,
  reserved = noMeasures,
): BudgetStatus[] {
  if (!budget?.agent) return [];
  const { per } = budget.agent;
  const day = per === "day" ? formatDay(Date.now()) : undefined;
  const own = toMeasures(spending.readTotal(day));
  const children = toMeasures(childSpending.sum(day === undefined ? {} : { since: day, until: day }));
  return createBudgetStatuses({
    level: "agent",
    per,
    limits: budget.agent,
    spent: addMeasures(own, children),
    reserved: addMeasures(reserved, childSpending.sumLeases()),
  });
}

function addMeasures(measures: Measures, { steps, tokens, costUsd }: Reservation, sign = 1): Measures {
  return {
    steps: measures.steps + sign * steps,
    tokens: measures.tokens + sign * tokens,
    costUsd: measures.costUsd + sign * costUsd,
    seconds: measures.seconds,
  };
}

/** Returns how long a turn has run, in ms, from its log. Pauses and host downtime do not count. */
export function measureElapsed(store: AgentStore, runId: string): number {
  let elapsedMs = 0;
  let lastAt: number | undefined;
  // What ends a pause is recorded before the turn resumes.
  let isPaused = false;
  for (let after = (store.turns.get(runId)?.number ?? 1) - 1; ;) {
    const events = store.log.read(after, 1000);
    for (const { type, ts, data } of events) {
      if (!("runId" in data) || data.runId !== runId || type === "request.accepted") continue;
      const at = Date.parse(ts);
      if (type === "run.resumed") isPaused = false;
      else if (lastAt !== undefined && !isPaused) elapsedMs += Math.max(0, at - lastAt);
      if (type === "run.paused") isPaused = true;
      lastAt = at;
    }
    const next = events.at(-1)?.seq;
    if (next === undefined) return elapsedMs;
    after = next;
  }
}
