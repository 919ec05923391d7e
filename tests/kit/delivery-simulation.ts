import { fail, priorities } from "@thinkery/sdk";
import { vi } from "vitest";
import type { Deliveries, Delivery, DeliveryReport } from "../../packages/runtime/src/agency/team/deliveries.ts";
import type { Random } from "./random.ts";
import { createTeamParts } from "./team-parts.ts";

const agents = ["alice", "bob", "kimi-code"];
const maxAttempts = 3;

/** A turn that an agent has accepted. It survives everything. */
interface Turn {
  delivery: Delivery;
  report?: DeliveryReport;
  /** Whether the agency has confirmed the report. */
  isReported: boolean;
}

class SimulatedAgent {
  readonly turns = new Map<number, Turn>();
  isStopped = false;
  isDiskFull = false;

  get open(): Turn | undefined {
    return [...this.turns.values()].find(({ report }) => report === undefined);
  }
}

/** An agency and its agents, with a clock and failures of all kinds at random. What is stored survives crashes. */
export class DeliverySimulation {
  readonly counts = {
    completed: 0,
    failed: 0,
    final: 0,
    putBack: 0,
    crashes: 0,
    lostBefore: 0,
    lostAfter: 0,
    stopped: 0,
    full: 0,
    repeated: 0,
    late: 0,
    deferred: 0,
    acked: 0,
    held: 0,
    retried: 0,
    givenUp: 0,
  };
  readonly #random: Random;
  readonly #team = createTeamParts(agents);
  readonly #agents = new Map(agents.map((name) => [name, new SimulatedAgent()]));
  readonly #problems: string[] = [];
  /** Messages by hand: acknowledged without a turn, or given another chance. */
  readonly #ackedByHand = new Set<string>();
  readonly #retried = new Set<string>();
  /** Agents, messages and the deliveries in which they were put off. */
  readonly #deferrals = new Set<string>();
  #deliveries: Deliveries;
  #life = 0;
  #isHeld = false;
  #isCalm = false;

  constructor(random: Random) {
    this.#random = random;
    this.#deliveries = this.#open();
  }

  /** Does so many random things. */
  async run(steps: number): Promise<void> {
    const random = this.#random;
    const often = (times: number, step: () => Promise<void> | void) => Array.from({ length: times }, () => step);
    const draw = random.deck([
      ...often(6, () => this.#post()),
      ...often(8, () => this.#deliver()),
      ...often(8, () => this.#finishTurn()),
      ...often(8, () => this.#report()),
      ...often(3, () => void vi.setSystemTime(Date.now() + random.below(20_000))),
      ...often(2, () => this.#useInbox()),
      ...often(1, () => this.#repeatReport()),
      ...often(1, () => this.#crash()),
      ...often(1, () => this.#toggleStop()),
      ...often(1, () => this.#toggleDisk()),
      ...often(1, () => void (this.#isHeld = !this.#isHeld)),
      ...often(1, () => this.#retryByHand()),
    ]);
    for (let step = 0; step < steps; step++) await draw()();
  }

  /** Lets everything come to its end, without any more failures of the surroundings. */
  async end(): Promise<void> {
    this.#isCalm = true;
    this.#isHeld = false;
    for (const [name, agent] of this.#agents) {
      agent.isStopped = false;
      agent.isDiskFull = false;
      this.#deliveries.resume(name);
    }
    for (let round = 0; round < 500; round++) {
      await this.#deliver();
      await this.#finishTurn();
      for (let report = 0; report < agents.length; report++) await this.#report();
      if (!this.#team.store.hasOpenItems() && this.#team.store.listDeliveries().length === 0) return;
      const dueAt = this.#deliveries.getNextDueAt();
      if (dueAt !== undefined) vi.setSystemTime(Math.max(Date.now(), dueAt));
    }
    this.#problems.push("it did not come to an end");
  }

  /** Returns what is not as it has to be, once everything has come to its end. */
  listProblems(): string[] {
    const { store } = this.#team;
    if (store.listDeliveries().length > 0) this.#problems.push("a delivery is open");
    for (const [name, { turns }] of this.#agents) {
      for (const { message, status, attempts } of this.#team.listItems(name)) {
        const id = `msg-${message}`;
        const key = `${name} ${id}`;
        // Turns in which it was put off left it as it was.
        const ends = [...turns.values()].flatMap(({ delivery, report }) =>
          report && delivery.messages.includes(id) && !this.#deferrals.has(`${key} ${delivery.number}`) ? report : [],
        );
        const completed = ends.filter((report) => report.status === "completed").length;
        const failed = ends.filter((report) => report.status !== "completed" && !report.isPutBack).length;
        const problem = (what: string) => this.#problems.push(`${key}, ${status} after ${attempts} attempts: ${what}`);
        if (status !== "acked" && status !== "given_up") problem("is not final");
        // What was acknowledged by hand may be in a turn.
        if (status === "acked" && !this.#ackedByHand.has(key) && completed !== 1)
          problem(`was handled ${completed} times`);
        if (status === "given_up" && completed > 0) problem("was given up although it was handled");
        if (!this.#retried.has(key) && failed > maxAttempts) problem(`failed ${failed} times`);
        if (status === "given_up") this.counts.givenUp++;
      }
    }
    return this.#problems;
  }

  #open(): Deliveries {
    const life = this.#life;
    return this.#team.createDeliveries({
      getSettings: () => ({ maxAttempts, backoffSeconds: 2 }),
      isHeld: () => this.#isHeld,
      send: async (delivery) => {
        const response = await this.#accept(delivery);
        // What comes back after a crash reaches nobody.
        return life === this.#life ? response : new Promise(() => {});
      },
    });
  }

  async #accept(delivery: Delivery): Promise<{ runId: string }> {
    const { counts } = this;
    const random = this.#random;
    const agent = this.#agents.get(delivery.agent);
    if (!agent) throw new Error("unknown agent");
    if (this.#isHeld) this.#problems.push(`${delivery.number} was sent while everything was held`);
    if (!this.#isCalm && random.chance(0.1)) {
      counts.lostBefore++;
      throw new Error("Network connection lost.");
    }
    if (!agent.turns.has(delivery.number)) {
      if (agent.isStopped) {
        counts.stopped++;
        throw fail("conflict", "The agent is stopped.");
      }
      if (agent.isDiskFull) {
        counts.full++;
        throw fail("too_large", "Your disk space is used up.");
      }
      if (agent.open) this.#problems.push(`${delivery.agent} got ${delivery.number} during another turn`);
      this.#checkOrder(delivery);
      agent.turns.set(delivery.number, { delivery, isReported: false });
    }
    if (random.chance(0.3)) await new Promise((resolve) => setImmediate(resolve));
    if (!this.#isCalm && random.chance(0.1)) {
      counts.lostAfter++;
      throw new Error("Network connection lost.");
    }
    return { runId: `run-${delivery.number}` };
  }

  #checkOrder({ number, messages }: Delivery): void {
    const rows = messages.flatMap((id) => this.#team.store.findMessage(Number(id.slice(4))) ?? []);
    const ranks = rows.map(({ priority, number: message }) => priorities.indexOf(priority) * 1e6 - message);
    if (ranks.some((rank, index) => index > 0 && rank > (ranks[index - 1] ?? 0)))
      this.#problems.push(`${number} is not in order`);
  }

  async #post(): Promise<void> {
    const random = this.#random;
    const to = random.shuffle(agents).slice(random.below(agents.length));
    const size = random.chance(0.1) ? random.below(60_000) : 1;
    await this.#team.post("x".repeat(size), { to, priority: random.pick(priorities) });
  }

  async #deliver(): Promise<void> {
    if (this.#isHeld) this.counts.held++;
    const delivering = this.#deliveries.deliver();
    // It may go on while other things happen.
    if (this.#isCalm || this.#random.chance(0.6)) await delivering;
    else void delivering;
  }

  /** Ends the open turn of an agent, or of all in the end. */
  async #finishTurn(): Promise<void> {
    const chosen = this.#isCalm ? [...this.#agents.keys()] : [this.#random.pick(agents)];
    for (const name of chosen) {
      const turn = this.#agents.get(name)?.open;
      if (turn) turn.report = this.#createReport(name, turn);
    }
  }

  #createReport(agent: string, { delivery }: Turn): DeliveryReport {
    const { counts } = this;
    const base = { delivery: delivery.number, agent, runId: `run-${delivery.number}`, result: "", hasProgress: true };
    const usage = { inputTokens: 1, outputTokens: 1, costUsd: 0 };
    const draw = this.#random.below(10);
    if (draw === 0 && !this.#isCalm) {
      counts.putBack++;
      return { ...base, usage, status: "canceled", isFinal: true, isPutBack: true };
    }
    if (draw === 1) {
      counts.final++;
      return { ...base, usage, status: "error", error: "Over budget.", isFinal: true };
    }
    if (draw <= 4) {
      counts.failed++;
      return { ...base, usage, status: "error", error: "No." };
    }
    counts.completed++;
    return { ...base, usage, status: "completed" };
  }

  /** Reports how a turn ended, unless the agent forgets and does it later. The response may be lost. */
  async #report(): Promise<void> {
    const turns = [...this.#agents.values()].flatMap(({ turns: all }) => [...all.values()]);
    const unreported = turns.filter(({ report, isReported }) => report && !isReported);
    if (unreported.length > 1) this.counts.late++;
    const turn = unreported.length === 0 ? undefined : this.#random.pick(unreported);
    if (!turn?.report) return;
    this.#deliveries.settle(turn.report);
    turn.isReported = this.#isCalm || this.#random.chance(0.8);
  }

  #repeatReport(): void {
    const reports = [...this.#agents.values()].flatMap(({ turns }) =>
      [...turns.values()].flatMap(({ report }) => report ?? []),
    );
    if (reports.length === 0) return;
    this.counts.repeated++;
    this.#deliveries.settle(this.#random.pick(reports));
  }

  /** The agency loses its memory, and what was on its way to it. */
  #crash(): void {
    this.counts.crashes++;
    this.#life++;
    this.#deliveries = this.#open();
  }

  #toggleStop(): void {
    const name = this.#random.pick(agents);
    const agent = this.#agents.get(name);
    if (!agent) return;
    agent.isStopped = !agent.isStopped;
    // The agency may not hear of it.
    if (!agent.isStopped && this.#random.chance(0.5)) this.#deliveries.resume(name);
  }

  #toggleDisk(): void {
    const agent = this.#agents.get(this.#random.pick(agents));
    if (agent) agent.isDiskFull = !agent.isDiskFull && this.#random.chance(0.3);
  }

  /** An agent puts a message of its turn off, or acknowledges it. */
  async #useInbox(): Promise<void> {
    const name = this.#random.pick(agents);
    const turn = this.#agents.get(name)?.open;
    if (!turn) return;
    const id = this.#random.pick(turn.delivery.messages);
    const item = this.#team.store.findItem(name, Number(id.slice(4)));
    if (item?.status !== "seen" || item.delivery !== turn.delivery.number) return;
    const key = `${name} ${id}`;
    if (this.#random.chance(0.5)) {
      this.counts.acked++;
      this.#ackedByHand.add(key);
      await this.#team.inboxes.ack(name, { ids: [id] });
    } else if (item.attempts - item.failures <= 20) {
      this.counts.deferred++;
      this.#deferrals.add(`${key} ${turn.delivery.number}`);
      this.#team.inboxes.defer(name, { id, until: 1 + this.#random.below(100) }, Date.now());
    }
  }

  #retryByHand(): void {
    const name = this.#random.pick(agents);
    const givenUp = this.#team.listItems(name).filter(({ status }) => status === "given_up");
    const [item] = this.#random.shuffle(givenUp);
    if (!item) return;
    this.counts.retried++;
    this.#retried.add(`${name} msg-${item.message}`);
    this.#team.inboxes.retry(name, [`msg-${item.message}`]);
  }
}
