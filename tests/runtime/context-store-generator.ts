import { inboxStatuses, priorities } from "@thinkery/sdk";
import type { ContextStore, ItemPatch, MessageFilter } from "../../packages/runtime/src/agency/team/context-store.ts";
import type { Random } from "../kit/random.ts";
import { createStep, type Step } from "./context-store-steps.ts";

const channels = ["general", "Plans", "dm.ann.bob"];
const agents = ["ann", "Bob", "cid"];
const maxTime = 40;

/** Makes up steps for a store. Few names, times and numbers, so that most steps concern what others stored. */
export class StepGenerator {
  readonly #random: Random;
  readonly #drawCall: () => () => Step;
  readonly #store: ContextStore;

  /** Most steps are about what was stored last, so each must have been run in this store before the next is made up. */
  constructor(random: Random, store: ContextStore) {
    this.#random = random;
    this.#store = store;
    const often = (times: number, create: () => Step) => Array.from({ length: times }, () => create);
    this.#drawCall = random.deck([
      ...often(3, () => this.#insertChannel()),
      ...often(2, () => this.#deleteChannel()),
      ...often(24, () => this.#insertMessage()),
      ...often(24, () => this.#insertItem()),
      ...often(24, () => createStep("updateItem", this.#drawAgent(), this.#drawMessage(), this.#drawPatch())),
      ...often(5, () => this.#insertDelivery()),
      ...often(2, () => createStep("setDeliveryRun", this.#drawDelivery(), `run-${random.below(9)}`)),
      ...often(4, () => createStep("closeDelivery", this.#drawDelivery())),
      ...often(4, () => this.#putAgent()),
      ...often(1, () => createStep("removeAgent", this.#drawAgent())),
      ...often(20, () => createStep("listMessages", this.#drawFilter())),
      ...often(16, () => this.#readInbox()),
      ...often(10, () => this.#readOther()),
    ]);
  }

  next(depth = 0): Step {
    if (depth > 2 || !this.#random.chance(0.05)) return this.#drawCall()();
    const transaction = Array.from({ length: 1 + this.#random.below(8) }, () => this.next(depth + 1));
    return { transaction, throws: this.#random.chance(0.4) };
  }

  /** Reads everything there is. */
  createDump(): Step[] {
    const all = { limit: 10_000, order: "oldest" } as const;
    return [
      createStep("listChannels", "", 100),
      createStep("listHiddenChannels"),
      createStep("listMessages", all),
      createStep("listDeliveries"),
      createStep("hasOpenItems"),
      createStep("getNextDueAt", 0),
      ...agents.flatMap((agent) => [
        createStep("listItems", { agent, statuses: inboxStatuses, after: 0, limit: 10_000 }),
        createStep("listDueItems", agent, maxTime, 10_000),
        createStep("countItems", agent),
        createStep("findAgent", agent),
      ]),
    ];
  }

  #insertChannel(): Step {
    const name = this.#random.pick(channels);
    const channel = { createdBy: this.#drawAgent(), createdAt: this.#drawTime() };
    if (name.startsWith("dm."))
      return createStep("insertChannel", { ...channel, name, kind: "direct", members: ["ann", "bob"] });
    const description = this.#maybe(() => this.#random.text(5));
    return createStep("insertChannel", { ...channel, name, kind: "channel", ...(description ? { description } : {}) });
  }

  /** Most of what is left of a channel is deleted soon, so that its name is free again. */
  #deleteChannel(): Step {
    const [hidden] = this.#store.listHiddenChannels();
    const name = hidden !== undefined && this.#random.chance(0.8) ? hidden : this.#random.pick(channels);
    return createStep("deleteChannel", this.#spell(name), this.#random.pick([1, 3, 1000]));
  }

  #insertMessage(): Step {
    const random = this.#random;
    return createStep("insertMessage", {
      channel: this.#spell(random.pick(channels)),
      from: this.#drawAgent(),
      fromKind: random.pick(["agent", "user", "host"]),
      content: random.text(6),
      to: random.shuffle(agents).slice(random.below(4)),
      priority: random.pick(priorities),
      createdAt: this.#drawTime(),
      thread: this.#maybe(() => this.#drawMessage()),
      key: this.#maybe(() => `key-${random.below(60)}`),
      ...(random.chance(0.1) ? { resource: random.text(4), size: random.below(99) } : {}),
    });
  }

  #insertItem(): Step {
    return createStep("insertItem", {
      // As it was spelled when the agent was created.
      agent: this.#random.pick(agents),
      message: this.#drawMessage(),
      priority: this.#random.pick(priorities),
      createdAt: this.#drawTime(),
      status: this.#random.pick(["pending", "pending", "acked"]),
    });
  }

  #drawPatch(): ItemPatch {
    return {
      status: this.#maybe(() => this.#random.pick(inboxStatuses)),
      attempts: this.#maybe(() => this.#random.below(9)),
      failures: this.#maybe(() => this.#random.below(9)),
      dueAt: this.#maybe(() => (this.#random.chance(0.3) ? null : this.#drawTime())),
      error: this.#maybe(() => (this.#random.chance(0.5) ? null : this.#random.text(4))),
      delivery: this.#maybe(() => (this.#random.chance(0.5) ? null : this.#random.below(9))),
    };
  }

  #insertDelivery(): Step {
    const messages = [this.#drawMessage(), this.#drawMessage()];
    return createStep("insertDelivery", { agent: this.#random.pick(agents), messages, startedAt: this.#drawTime() });
  }

  #putAgent(): Step {
    const drawText = () => this.#maybe(() => (this.#random.chance(0.4) ? null : this.#random.text(4)));
    return createStep("putAgent", this.#random.pick(agents), {
      note: drawText(),
      task: drawText(),
      turnsWithoutProgress: this.#maybe(() => this.#random.below(5)),
    });
  }

  #drawFilter(): MessageFilter {
    return {
      channel: this.#maybe(() => this.#spell(this.#random.pick(channels))),
      thread: this.#maybe(() => this.#drawMessage()),
      after: this.#maybe(() => this.#drawMessage()),
      upTo: this.#maybe(() => this.#drawMessage()),
      before: this.#maybe(() => this.#drawMessage()),
      since: this.#maybe(() => this.#drawTime()),
      until: this.#maybe(() => this.#drawTime()),
      limit: 1 + this.#random.below(20),
      order: this.#random.pick(["oldest", "newest"]),
    };
  }

  #readInbox(): Step {
    const random = this.#random;
    const statuses = random.shuffle(inboxStatuses).slice(random.below(5));
    return random.pick([
      createStep("findItem", this.#drawAgent(), this.#drawMessage()),
      createStep("listItems", {
        agent: this.#drawAgent(),
        statuses,
        after: this.#drawMessage(),
        limit: 1 + random.below(9),
      }),
      createStep("listDueAgents", this.#drawTime()),
      createStep("listDueItems", this.#drawAgent(), this.#drawTime(), 1 + random.below(9)),
      createStep("getNextDueAt", this.#drawTime()),
      createStep("countItems", this.#drawAgent()),
      createStep("hasOpenItems"),
    ]);
  }

  #readOther(): Step {
    const random = this.#random;
    return random.pick([
      createStep("listChannels", random.pick(["", "g", "Q"]), 1 + random.below(3)),
      createStep("findChannel", this.#spell(random.pick(channels))),
      createStep("findMessage", this.#drawMessage()),
      createStep("findMessageByKey", `key-${random.below(60)}`),
      createStep("findDelivery", this.#drawDelivery()),
      createStep("listDeliveries", ...(random.chance(0.5) ? [this.#drawAgent()] : [])),
      createStep("findAgent", this.#drawAgent()),
    ]);
  }

  #drawAgent(): string {
    return this.#spell(this.#random.pick(agents));
  }

  #drawMessage(): number {
    const [last] = this.#store.listMessages({ limit: 1, order: "newest" });
    return Math.max(1, (last?.number ?? 0) + 2 - this.#random.below(30));
  }

  #drawDelivery(): number {
    const open = this.#store.listDeliveries().map(({ number }) => number);
    return this.#random.pick([...open.slice(-9), open.length]);
  }

  #drawTime(): number {
    return 1 + this.#random.below(maxTime);
  }

  #spell(name: string): string {
    return this.#random.pick([name, name, name.toLowerCase(), name.toUpperCase()]);
  }

  #maybe<Value>(draw: () => Value): Value | undefined {
    return this.#random.chance(0.3) ? draw() : undefined;
  }
}
