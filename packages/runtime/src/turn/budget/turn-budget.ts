import type { AgentBudget, Failure, Standing, UsageTotal } from "@thinkery/sdk";
import type { Asked, Reservation } from "../../store/accounts.ts";
import type { AgentStore } from "../../store/agent-store.ts";
import { dayOf } from "../../store/spent.ts";
import { type Measures, measuresOf, noMeasures, reached, standingsOf, unkeepable } from "../../store/standing.ts";
import { maxGapMs } from "../limits.ts";
import type { TurnDeps } from "../turn-deps.ts";
import { failureOf } from "../turn-failed.ts";
import { spentUp, unkept } from "./spent-up.ts";

interface TurnBudgetOptions {
  agent: string;
  runId: string;
  /** It goes on after a crash or a pause. */
  again: boolean;
  store: AgentStore;
  deps: Pick<TurnDeps, "config" | "limits" | "books" | "costOf">;
  /** Writes what is held: what was spent has to stand in the books before they are asked. */
  record(): void;
}

/** What was set aside for a call, to be given back when it is over. */
export interface Allowance {
  asked: Reservation;
  /** The books beyond know of it. */
  metered: boolean;
}

/** For a call that nobody counts. */
const free: Allowance = { asked: { steps: 0, tokens: 0, costUsd: 0 }, metered: false };

/** A call is taken to use a fifth more than the one before it, and so many tokens each way at least. */
const growth = 1.2;
const minTokens = 250;

/** What one turn may spend: asked before every call to a model, told after it. */
export class TurnBudget {
  readonly #options: TurnBudgetOptions;
  readonly #budget: AgentBudget;
  readonly #limited: boolean;
  #spent: Measures = noMeasures;
  #reserved: Measures = noMeasures;
  /** What was set aside for the step's own call, and for which model. */
  #step: (Allowance & { model: string }) | undefined;
  /** The last call came back without a word on what it used. */
  #untold = false;
  #lastLook = Date.now();

  constructor(options: TurnBudgetOptions) {
    this.#options = options;
    const { again, store, runId } = options;
    this.#budget = options.deps.config?.budget ?? {};
    this.#limited = Object.keys(this.#budget).length > 0;
    if (!this.#limited || !again) return;
    const seconds = this.#budget.seconds === undefined ? 0 : elapsedIn(store, runId) / 1000;
    this.#spent = { ...measuresOf(store.calls.amountsOf(runId)), seconds };
  }

  /** For the call of a step; once more where it turns out that another model is asked, at another price. */
  openStep(model: string): void | Promise<void> {
    if (this.#step?.model === model) return;
    this.closeStep();
    const allowance = this.open(model);
    const take = (allowed: Allowance) => {
      this.#step = { ...allowed, model };
    };
    return allowance instanceof Promise ? allowance.then(take) : take(allowance);
  }

  closeStep(usage?: UsageTotal): void {
    if (this.#step) this.close(this.#step, usage);
    this.#step = undefined;
  }

  /** Fails the turn where a limit leaves no room for another call. It takes time only where the books beyond are asked. */
  open(model: string): Allowance | Promise<Allowance> {
    const metered = this.#options.deps.books.metered();
    if (metered === false && !this.#limited) return free;
    const asked = this.#estimate(model);
    if (this.#limited) this.#judge(model, asked);
    return metered === false ? this.#take({ asked, metered }) : this.#ask(model, asked, metered);
  }

  close({ asked, metered }: Allowance, usage?: UsageTotal): void {
    if (asked.steps === 0) return;
    this.#reserved = plus(this.#reserved, asked, -1);
    if (metered) this.#options.deps.books.settle(asked);
    if (!usage) return;
    const tokens = usage.inputTokens + usage.outputTokens;
    this.#untold = tokens === 0;
    this.#spent = plus(this.#spent, { steps: 1, tokens, costUsd: usage.costUsd ?? 0 });
  }

  /** Why the turn has to end now, though its call or its tool is not done: its time is over. */
  late(now: number): Failure | undefined {
    if (this.#budget.seconds === undefined) return undefined;
    this.#look(now);
    const late = this.#turn().find(({ kind, spent, limit }) => kind === "seconds" && spent >= limit);
    return late && failureOf(spentUp(late, this.#options.agent));
  }

  async #ask(model: string, asked: Asked, metered: true | Promise<boolean>): Promise<Allowance> {
    if (!(await metered)) return this.#limited ? this.#take({ asked, metered: false }) : free;
    this.#options.record();
    const { refused, unknown } = await this.#options.deps.books.ask(asked);
    if (refused) throw unknown ? unkept(refused, unknown, model) : spentUp(refused, this.#options.agent);
    return this.#take({ asked, metered: true });
  }

  #take(allowance: Allowance): Allowance {
    this.#reserved = plus(this.#reserved, allowance.asked);
    return allowance;
  }

  /** The turn's own limits and the agent's. */
  #judge(model: string, { unknown }: Asked): void {
    this.#look(Date.now());
    const standings = [...this.#turn(), ...this.#agent()];
    const loose = unknown && unkeepable(standings, unknown);
    if (loose) throw unkept(loose, unknown, model);
    const refused = reached(standings);
    if (refused) throw spentUp(refused, this.#options.agent);
  }

  #turn(): Standing[] {
    return standingsOf({ level: "turn", per: "turn", limits: this.#budget, spent: this.#spent, reserved: this.#reserved });
  }

  #agent(): Standing[] {
    if (!this.#budget.agent) return [];
    this.#options.record();
    return agentStandings(this.#options.store, this.#budget, this.#reserved);
  }

  #estimate(model: string): Asked {
    const { store, deps } = this.#options;
    const last = store.calls.latest();
    const guess = (tokens = 0) => Math.max(minTokens, Math.ceil(tokens * growth));
    const usage = { inputTokens: guess(last?.input), outputTokens: guess(last?.output) };
    const costUsd = deps.costOf(model, usage);
    const unknown = this.#untold ? "usage" : costUsd === undefined ? "price" : undefined;
    return { steps: 1, tokens: usage.inputTokens + usage.outputTokens, costUsd: costUsd ?? 0, ...(unknown ? { unknown } : {}) };
  }

  #look(now: number): void {
    const gap = Math.min(Math.max(0, now - this.#lastLook), maxGapMs(this.#options.deps.limits));
    this.#lastLook = now;
    this.#spent = { ...this.#spent, seconds: this.#spent.seconds + gap / 1000 };
  }
}

/** Where the budget stands that a blueprint gives to all turns of an agent together. */
export function agentStandings({ spending }: AgentStore, budget: AgentBudget | undefined, reserved = noMeasures): Standing[] {
  if (!budget?.agent) return [];
  const { per } = budget.agent;
  const spent = measuresOf(spending.total(per === "day" ? dayOf(Date.now()) : undefined));
  return standingsOf({ level: "agent", per, limits: budget.agent, spent, reserved });
}

function plus(measures: Measures, { steps, tokens, costUsd }: Reservation, sign = 1): Measures {
  return {
    steps: measures.steps + sign * steps,
    tokens: measures.tokens + sign * tokens,
    costUsd: measures.costUsd + sign * costUsd,
    seconds: measures.seconds,
  };
}

/** How long a turn has been worked on, in ms, from its log: neither while it was paused nor while the host was down. */
export function elapsedIn(store: AgentStore, runId: string): number {
  let worked = 0;
  let last: number | undefined;
  for (let after = (store.turns.get(runId)?.number ?? 1) - 1; ; ) {
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
