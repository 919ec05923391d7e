import type { AgentBudget, Failure, BudgetStatus, UsageTotal } from "@thinkery/sdk";
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
import { toFailure } from "../turn-error.ts";
import { createBudgetError, createUnenforceableError } from "./budget-errors.ts";

interface TurnBudgetOptions {
  agent: string;
  runId: string;
  /** It goes on after a crash or a pause. */
  isResumed: boolean;
  store: AgentStore;
  deps: Pick<TurnDeps, "config" | "limits" | "budgetClient" | "getCost">;
  /** Writes what is held: what was spent has to stand in the books before they are asked. */
  record(): void;
}

/** What was set aside for a call, to be given back when it is over. */
export interface CallReservation {
  reserved: Reservation;
  /** The books beyond know of it. */
  isMetered: boolean;
}

/** For a call that nobody counts. */
const emptyReservation: CallReservation = { reserved: { steps: 0, tokens: 0, costUsd: 0 }, isMetered: false };

/** A call is taken to use a fifth more than the one before it, and so many tokens each way at least. */
const growthFactor = 1.2;
const minTokens = 250;

/** What one turn may spend: asked before every call to a model, told after it. */
export class TurnBudget {
  readonly #options: TurnBudgetOptions;
  readonly #budget: AgentBudget;
  readonly #isLimited: boolean;
  #spent: Measures = noMeasures;
  #reserved: Measures = noMeasures;
  /** What was set aside for the step's own call, and for which model. */
  #step: (CallReservation & { model: string }) | undefined;
  /** The last call came back without a word on what it used. */
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

  /** For the call of a step; once more where it turns out that another model is asked, at another price. */
  openStep(model: string): void | Promise<void> {
    if (this.#step?.model === model) return;
    this.closeStep();
    const allowance = this.open(model);
    const take = (allowed: CallReservation) => {
      this.#step = { ...allowed, model };
    };
    return allowance instanceof Promise ? allowance.then(take) : take(allowance);
  }

  closeStep(usage?: UsageTotal): void {
    if (this.#step) this.close(this.#step, usage);
    this.#step = undefined;
  }

  /** Fails the turn where a limit leaves no room for another call. It takes time only where the books beyond are asked. */
  open(model: string): CallReservation | Promise<CallReservation> {
    const isMetered = this.#options.deps.budgetClient.isMetered();
    if (isMetered === false && !this.#isLimited) return emptyReservation;
    const reserved = this.#estimate(model);
    if (this.#isLimited) this.#checkLimits(model, reserved);
    return isMetered === false
      ? this.#addReservation({ reserved, isMetered })
      : this.#requestReservation(model, reserved, isMetered);
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

  /** Why the turn has to end now, though its call or its tool is not done: its time is over. */
  checkTime(now: number): Failure | undefined {
    if (this.#budget.seconds === undefined) return undefined;
    this.#countTime(now);
    const late = this.#listTurnStatuses().find(({ kind, spent, limit }) => kind === "seconds" && spent >= limit);
    return late && toFailure(createBudgetError(late, this.#options.agent));
  }

  async #requestReservation(
    model: string,
    reserved: ReservationRequest,
    metered: true | Promise<boolean>,
  ): Promise<CallReservation> {
    if (!(await metered))
      return this.#isLimited ? this.#addReservation({ reserved, isMetered: false }) : emptyReservation;
    this.#options.record();
    const { refused, unknown } = await this.#options.deps.budgetClient.reserve(reserved);
    if (refused)
      throw unknown
        ? createUnenforceableError(refused, unknown, model)
        : createBudgetError(refused, this.#options.agent);
    return this.#addReservation({ reserved, isMetered: true });
  }

  #addReservation(allowance: CallReservation): CallReservation {
    this.#reserved = addMeasures(this.#reserved, allowance.reserved);
    return allowance;
  }

  /** The turn's own limits and the agent's. */
  #checkLimits(model: string, { unknown }: ReservationRequest): void {
    this.#countTime(Date.now());
    const statuses = [...this.#listTurnStatuses(), ...this.#listAgentStatuses()];
    const loose = unknown && findUnenforceableLimit(statuses, unknown);
    if (loose) throw createUnenforceableError(loose, unknown, model);
    const refused = findReachedLimit(statuses);
    if (refused) throw createBudgetError(refused, this.#options.agent);
  }

  #listTurnStatuses(): BudgetStatus[] {
    return createBudgetStatuses({
      level: "turn",
      per: "turn",
      limits: this.#budget,
      spent: this.#spent,
      reserved: this.#reserved,
    });
  }

  #listAgentStatuses(): BudgetStatus[] {
    if (!this.#budget.agent) return [];
    this.#options.record();
    return listAgentBudgetStatuses(this.#options.store, this.#budget, this.#reserved);
  }

  #estimate(model: string): ReservationRequest {
    const { store, deps } = this.#options;
    const last = store.calls.getLatest();
    const guess = (tokens = 0) => Math.max(minTokens, Math.ceil(tokens * growthFactor));
    const usage = { inputTokens: guess(last?.input), outputTokens: guess(last?.output) };
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

/** Where the budget stands that a blueprint gives to all turns of an agent together. */
export function listAgentBudgetStatuses(
  { spending }: AgentStore,
  budget: AgentBudget | undefined,
  reserved = noMeasures,
): BudgetStatus[] {
  if (!budget?.agent) return [];
  const { per } = budget.agent;
  const spent = toMeasures(spending.readTotal(per === "day" ? formatDay(Date.now()) : undefined));
  return createBudgetStatuses({ level: "agent", per, limits: budget.agent, spent, reserved });
}

function addMeasures(measures: Measures, { steps, tokens, costUsd }: Reservation, sign = 1): Measures {
  return {
    steps: measures.steps + sign * steps,
    tokens: measures.tokens + sign * tokens,
    costUsd: measures.costUsd + sign * costUsd,
    seconds: measures.seconds,
  };
}

/** How long a turn has been worked on, in ms, from its log: neither while it was paused nor while the host was down. */
export function measureElapsed(store: AgentStore, runId: string): number {
  let worked = 0;
  let last: number | undefined;
  for (let after = (store.turns.get(runId)?.number ?? 1) - 1; ;) {
    const events = store.log.read(after, 1000);
    for (const { type, ts, data } of events) {
      if (!("runId" in data) || data.runId !== runId || type === "request.accepted") continue;
      const at = Date.parse(ts);
      if (last !== undefined && type !== "run.resumed") worked += Math.max(0, at - last);
      last = at;
    }
    const next = events.at(-1)?.seq;
    if (next === undefined) return worked;
    after = next;
  }
}
