import type { DaySpending, SubagentUsage } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { createRandom, type Random } from "../../../../../tests/kit/random.ts";
import { addReservations, noReservation, type Reservation, subtractReservation } from "../../store/usage-totals.ts";
import {
  decideLease,
  type LeasingBudget,
  limitsSpending,
  selectChangedDays,
  type SpendingStatement,
  toSpent,
} from "./child-leases.ts";

const call = { steps: 1, tokens: 500, costUsd: 0.5 };
const usageOf = (calls: number, tokens: number): SubagentUsage => ({
  calls,
  inputTokens: tokens,
  outputTokens: 0,
  costUsd: tokens / 1000,
});

const budget = (limits: LeasingBudget["limits"], spent: Partial<Reservation>, held = noReservation): LeasingBudget => ({
  level: "turn",
  per: "turn",
  limits,
  others: { spent: { ...noReservation, ...spent }, reserved: held },
  spent: noReservation,
});

const ask = (reserved = call): { statement: SpendingStatement; call: typeof call } => ({
  statement: { days: [], reserved },
  call,
});

test("a lease is refused once everything is spent or leased, and what was leased before stays so", () => {
  expect(decideLease([budget({ steps: 2 }, { steps: 1 })], ask())).toEqual({ reserved: call, isTight: true });
  expect(decideLease([budget({ steps: 9 }, { steps: 1 })], ask())).toEqual({ reserved: call, isTight: false });
  const two = addReservations(call, call);
  expect(decideLease([budget({ steps: 2 }, { steps: 1 })], ask(two))).toMatchObject({
    refused: { kind: "steps", spent: 1, reserved: 1, limit: 2 },
    reserved: call,
  });
  expect(decideLease([budget({ tokens: 1000 }, { tokens: 400 }, two)], ask())).toMatchObject({
    refused: { kind: "tokens", spent: 400, reserved: 1000 },
    reserved: noReservation,
  });
});

test("the narrower budget is named first, time is not leased, and an unknown price cannot be limited", () => {
  const [turn, agent] = [
    budget({ steps: 1 }, { steps: 1 }),
    { ...budget({ steps: 1 }, { steps: 1 }), level: "agent" as const },
  ];
  expect(decideLease([turn, agent], ask()).refused).toMatchObject({ level: "turn" });
  expect(decideLease([budget({ seconds: 1 }, {})], ask()).refused).toBeUndefined();
  const unknown = { ...call, unknown: "price" as const };
  expect(decideLease([budget({ costUsd: 5 }, {})], { ...ask(), call: unknown })).toMatchObject({
    refused: { kind: "costUsd" },
    unknown: "price",
    reserved: noReservation,
  });
  expect(decideLease([budget({ tokens: 5000 }, {})], { ...ask(), call: unknown }).refused).toBeUndefined();
  expect([undefined, {}, { seconds: 1 }, { steps: 1 }, { tokens: 1 }, { costUsd: 1 }].map(limitsSpending)).toEqual([
    false,
    false,
    false,
    true,
    true,
    true,
  ]);
});

test("only days that changed are stated", () => {
  const day = (day: string, calls: number): DaySpending => ({ day, ...usageOf(calls, 5), costUsd: 0, unknown: 0 });
  const known = new Map([["a", day("a", 1)]]);
  expect(selectChangedDays([day("a", 1), day("b", 1)], known)).toEqual([day("b", 1)]);
  expect(selectChangedDays([day("a", 2)], known)).toEqual([day("a", 2)]);
});

/** An agent as its objects keep it: what it knows of those below it is all that it decides with. */
class Agent {
  readonly known = new Map<Agent, { usage: SubagentUsage; reserved: Reservation }>();
  own = usageOf(0, 0);
  inFlight = 0;
  readonly #parent: Agent | undefined;
  readonly #limit: number | undefined;
  readonly #random: Random;

  constructor(random: Random, parent: Agent | undefined, limit: number | undefined) {
    this.#random = random;
    this.#parent = parent;
    this.#limit = limit;
  }

  /** Tries to make a call: within the own limit, then with everyone above. */
  open(): boolean {
    const { usage, reserved } = this.createStatement();
    if (usage.calls + reserved.steps >= (this.#limit ?? Infinity)) return false;
    this.inFlight++;
    const isGranted = !this.#parent || this.#parent.#lease(this);
    if (!isGranted) this.inFlight--;
    return isGranted;
  }

  /** A call that a crash cuts off is not counted by anyone. */
  close(tokens: number | undefined): void {
    this.inFlight--;
    if (tokens !== undefined) this.own = usageOf(this.own.calls + 1, this.own.inputTokens + tokens);
  }

  tell(): void {
    this.#parent?.known.set(this, this.createStatement());
    this.#parent?.tell();
  }

  createStatement(except?: Agent): SpendingStatement & { usage: SubagentUsage } {
    let { calls, inputTokens } = this.own;
    let reserved: Reservation = { steps: this.inFlight, tokens: 500 * this.inFlight, costUsd: 0.5 * this.inFlight };
    for (const [child, known] of this.known) {
      if (child === except) continue;
      calls += known.usage.calls;
      inputTokens += known.usage.inputTokens;
      reserved = addReservations(reserved, known.reserved);
    }
    return { usage: usageOf(calls, inputTokens), days: [], reserved };
  }

  /** Whether everyone with a limit has room for what it and those below have in flight. */
  isWithinLimit(all: readonly Agent[]): boolean {
    const below = all.filter((agent) => agent.isBelow(this));
    return below.reduce((total, { own, inFlight }) => total + own.calls + inFlight, 0) <= (this.#limit ?? Infinity);
  }

  isBelow(ancestor: Agent): boolean {
    return this === ancestor || this.#parent?.isBelow(ancestor) === true;
  }

  #lease(child: Agent): boolean {
    const statement = child.createStatement();
    const { usage } = statement;
    const others = this.createStatement(child);
    const limits = this.#limit === undefined ? {} : { steps: this.#limit };
    const leasing = { ...budget(limits, toSpent(others.usage), others.reserved), spent: toSpent(usage) };
    const { refused, reserved } = decideLease([leasing], { statement, call });
    this.known.set(child, { usage, reserved });
    if (refused) return false;
    if (this.#parent && !this.#parent.#lease(this)) {
      this.known.set(child, { usage, reserved: subtractReservation(reserved, call) });
      return false;
    }
    // If the answer is lost, the child asks again, with the same sums.
    return this.#random.chance(0.1) ? this.#lease(child) : true;
  }
}

test("no limit is ever exceeded, and all sums are exact, whatever is lost and cut off", () => {
  const random = createRandom("leases");
  for (let round = 0; round < 200; round++) {
    const agents = [new Agent(random, undefined, 40)];
    for (let count = random.below(8); count > 0; count--)
      agents.push(new Agent(random, random.pick(agents), random.chance(0.6) ? 1 + random.below(20) : undefined));
    const running: Agent[] = [];
    let made = 0;
    for (let step = 0; step < 150; step++) {
      const agent = random.pick(agents);
      const index = random.below(running.length || 1);
      const [done] = random.chance(0.4) ? running.splice(index, 1) : [];
      if (done) {
        const isCutOff = random.chance(0.1);
        done.close(isCutOff ? undefined : 1 + random.below(500));
        if (!isCutOff) made++;
        if (random.chance(0.3)) done.tell();
      } else if (agent.open()) running.push(agent);
      expect(agents.every((one) => one.isWithinLimit(agents))).toBe(true);
    }
    for (const agent of running) agent.close(undefined);
    for (const agent of agents.toReversed()) agent.tell();
    expect(agents[0]?.createStatement()).toMatchObject({ usage: { calls: made }, reserved: noReservation });
    for (const agent of agents) {
      const below = agents.filter((one) => one.isBelow(agent));
      expect(agent.createStatement().usage.calls).toBe(below.reduce((total, { own }) => total + own.calls, 0));
    }
  }
});
