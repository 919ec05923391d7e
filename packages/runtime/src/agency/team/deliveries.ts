import { type ErrorCode, type FailureCode, isThinkeryError, type UsageTotal } from "@thinkery/sdk";
import { Pacer } from "../../host/fair-work.ts";
import type { ContextStore, DeliveryRow, ItemRow, MessageRow } from "./context-store.ts";
import { formatDelivery } from "./format-delivery.ts";
import type { Inboxes } from "./inboxes.ts";
import { formatMessageId } from "./message-id.ts";

/** Messages for one turn of an agent. The same number twice is the same delivery. */
export interface Delivery {
  number: number;
  agent: string;
  text: string;
  /** For the context of the request. */
  messages: string[];
  channel: string;
  from: string;
}

/** How the turn of a delivery ended. */
export interface DeliveryReport {
  delivery: number;
  agent: string;
  runId: string;
  status: "completed" | "error" | "canceled";
  /** Why it failed, or was canceled. */
  error?: string;
  code?: FailureCode;
  /** Whether another attempt cannot help. */
  isFinal?: boolean;
  /** Whether the agent was stopped, or its turn replaced: its messages are for later. */
  isPutBack?: boolean;
  /** What it replied. */
  result: string;
  /** Whether it did anything but write to others. */
  hasProgress: boolean;
  usage: Pick<UsageTotal, "inputTokens" | "outputTokens" | "costUsd">;
}

/** Why a turn did not handle its messages, and what that means for them. */
type Failure = Pick<DeliveryReport, "error" | "isFinal" | "isPutBack">;

export interface DeliveriesOptions {
  store: ContextStore;
  inboxes: Inboxes;
  /** Whose work it is to begin many turns. */
  owner?: string;
  getSettings(): { maxAttempts: number; backoffSeconds: number };
  /** Whether nothing is delivered for now. */
  isHeld(): boolean;
  hasAgent(name: string): boolean;
  /** Gives a delivery to its agent. Returns its turn. */
  send(delivery: Delivery): Promise<{ runId: string }>;
  /** Called in the transaction in which a message is given up. */
  onGivenUp(item: ItemRow, message: MessageRow, reason: string): void;
}

const maxMessages = 20;
const maxChars = 100_000;
/** A stopped agent is offered its messages again and again, so only the first of them wait. */
const maxResumed = 500;
/** Deliveries that are sent at once, and how much work each further one is, in microseconds. */
const maxUnpacedSends = 8;
const unitsPerSend = 100_000;
const retryMs = 5000;
const storeRunDelayMs = 100;
/** An agent that cannot be reached for so long has failed. */
const maxSendAttempts = 60;
/** Errors of an agent that cannot take messages now, or no longer exists: the messages wait. */
const putBackErrors: readonly ErrorCode[] = ["conflict", "not_found"];
/** Errors that are over in a moment. */
const passingErrors: readonly ErrorCode[] = ["unavailable", "rate_limited", "internal"];
/** How long a stopped agent is left alone, unless it is started before. */
const stoppedRetryMs = 60_000;
const maxBackoffMs = 3600_000;

/**
 * Gives agents what is in their inboxes: all that is due, as one turn, once the one before is over. A delivery is stored
 * before it is sent, and its agent knows it by its number, so a crash repeats none and loses none.
 */
export class Deliveries {
  readonly #options: DeliveriesOptions;
  readonly #sending = new Map<number, Promise<void>>();
  /** The turns of deliveries that were accepted a moment ago, by number, until they are stored. */
  readonly #accepted = new Map<number, string>();
  /** How often deliveries could not be sent, by number. */
  readonly #sendFailures = new Map<number, number>();
  #retryAt: number | undefined;
  #pacing: Promise<void> | undefined;

  constructor(options: DeliveriesOptions) {
    this.#options = options;
  }

  /** Delivers what is due, and sends again what no agent has accepted yet. */
  async deliver(): Promise<void> {
    const { store, isHeld } = this.#options;
    if (isHeld()) return;
    this.#retryAt = undefined;
    const now = Date.now();
    for (const agent of store.listDueAgents(now)) this.#begin(agent, now);
    const unsent = this.#listUnsent();
    const sending = unsent.slice(0, maxUnpacedSends).map((delivery) => this.#send(delivery));
    if (unsent.length > maxUnpacedSends) sending.push((this.#pacing ??= this.#sendPaced()));
    await Promise.all(sending);
  }

  #listUnsent(): DeliveryRow[] {
    const isUnsent = ({ number, runId }: DeliveryRow) => runId === undefined && !this.#accepted.has(number);
    return this.#options.store.listDeliveries().filter(isUnsent);
  }

  /** Sends what is left one by one: each of them wakes an agent, and a turn begins. */
  async #sendPaced(): Promise<void> {
    const { isHeld, owner } = this.#options;
    const pacer = new Pacer(owner);
    const sent = new Map<number, Promise<void>>();
    try {
      for (;;) {
        await pacer.pauseIfDue(unitsPerSend);
        const next = isHeld() ? undefined : this.#listUnsent().find(({ number }) => !sent.has(number));
        if (!next) break;
        // Not awaited: an agent that takes long must not keep the others from theirs.
        sent.set(next.number, this.#send(next));
      }
    } finally {
      this.#pacing = undefined;
    }
    await Promise.all(sent.values());
  }

  /** Returns when `deliver` has something to do, if ever. What a busy agent has to do waits for the end of its turn. */
  getNextDueAt(): number | undefined {
    const { store, isHeld, hasAgent } = this.#options;
    if (isHeld()) return undefined;
    const now = Date.now();
    const isFree = (agent: string) => hasAgent(agent) && store.listDeliveries(agent).length === 0;
    if (store.listDueAgents(now).some(isFree)) return now;
    const times = [store.getNextDueAt(now), this.#retryAt].filter((time) => time !== undefined);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  /** Settles the items of a delivery whose turn is over. Returns whether it was open. */
  settle(report: DeliveryReport): boolean {
    const { store, inboxes } = this.#options;
    const delivery = store.findDelivery(report.delivery);
    if (!delivery || delivery.agent.toLowerCase() !== report.agent.toLowerCase()) return false;
    store.transaction(() => {
      for (const item of this.#listItems(delivery)) {
        if (report.status === "completed")
          inboxes.update(item.agent, item.message, { status: "acked", error: null, delivery: null });
        else this.#fail(item, report);
      }
      store.closeDelivery(delivery.number);
    });
    return true;
  }

  /** Makes what waits for a stopped agent due at once. Returns whether anything did. */
  resume(agent: string): boolean {
    const { store, inboxes } = this.#options;
    const now = Date.now();
    // What waits because its turn failed has failures.
    const waiting = store
      .listItems({ agent, statuses: ["pending"], after: 0, limit: maxResumed })
      .filter(({ dueAt = 0, failures }) => dueAt > now && failures === 0);
    for (const { message } of waiting) inboxes.update(agent, message, { dueAt: null });
    return waiting.length > 0;
  }

  /** Stores a delivery of what is due for an agent, unless it has one. */
  #begin(agent: string, now: number): void {
    const { store, inboxes, hasAgent } = this.#options;
    if (!hasAgent(agent) || store.listDeliveries(agent).length > 0) return;
    store.transaction(() => {
      const items = this.#chooseItems(agent, now);
      if (items.length === 0) return;
      const messages = items.map(({ message }) => message);
      const number = store.insertDelivery({ agent, messages, startedAt: now });
      for (const { message, attempts } of items)
        inboxes.update(agent, message, { status: "seen", attempts: attempts + 1, delivery: number, dueAt: null });
    });
  }

  #chooseItems(agent: string, now: number): ItemRow[] {
    const { store } = this.#options;
    let chars = 0;
    const due = store.listDueItems(agent, now, maxMessages);
    return due.filter(({ message }, index) => {
      chars += store.findMessage(message)?.content.length ?? 0;
      return index === 0 || chars <= maxChars;
    });
  }

  #send(delivery: DeliveryRow): Promise<void> {
    const running = this.#sending.get(delivery.number);
    if (running) return running;
    const sending = this.#trySend(delivery).finally(() => this.#sending.delete(delivery.number));
    this.#sending.set(delivery.number, sending);
    return sending;
  }

  async #trySend(delivery: DeliveryRow): Promise<void> {
    const { store, send } = this.#options;
    const messages = delivery.messages.flatMap((number) => store.findMessage(number) ?? []);
    const [first] = messages;
    if (!first) return store.closeDelivery(delivery.number);
    try {
      const { runId } = await send({
        number: delivery.number,
        agent: delivery.agent,
        text: formatDelivery(messages),
        messages: messages.map(({ number }) => formatMessageId(number)),
        channel: first.channel,
        from: first.from,
      });
      this.#sendFailures.delete(delivery.number);
      this.#noteAccepted(delivery.number, runId);
    } catch (error) {
      if (!isThinkeryError(error)) console.error("messages could not be delivered", error);
      const code = isThinkeryError(error) ? error.code : "internal";
      if (putBackErrors.includes(code)) return this.#putBack(delivery);
      const failures = (this.#sendFailures.get(delivery.number) ?? 0) + 1;
      if (!passingErrors.includes(code) || failures >= maxSendAttempts)
        return this.#refuse(delivery, isThinkeryError(error) ? error.message : "The agent could not be reached.");
      this.#sendFailures.set(delivery.number, failures);
      this.#retryAt = Date.now() + retryMs;
    }
  }

  /**
   * Stores the turn of a delivery, but not at once: the write would hold up the turn. If a crash comes first, the delivery
   * is sent again, which does nothing.
   */
  #noteAccepted(delivery: number, runId: string): void {
    this.#accepted.set(delivery, runId);
    setTimeout(() => {
      this.#accepted.delete(delivery);
      // Short turns are over already.
      if (this.#options.store.findDelivery(delivery)) this.#options.store.setDeliveryRun(delivery, runId);
    }, storeRunDelayMs);
  }

  /** The agent cannot take it, for example because its disk space is used up. That counts as a turn that failed. */
  #refuse(delivery: DeliveryRow, error: string): void {
    const { store } = this.#options;
    store.transaction(() => {
      for (const item of this.#listItems(delivery)) this.#fail(item, { error });
      store.closeDelivery(delivery.number);
    });
    this.#sendFailures.delete(delivery.number);
  }

  /** The agent is stopped, its queue is full, or it was deleted. */
  #putBack(delivery: DeliveryRow): void {
    const { store, inboxes } = this.#options;
    store.transaction(() => {
      for (const { agent, message, attempts } of this.#listItems(delivery)) {
        const dueAt = Date.now() + stoppedRetryMs;
        inboxes.update(agent, message, { status: "pending", attempts: attempts - 1, delivery: null, dueAt });
      }
      store.closeDelivery(delivery.number);
    });
  }

  #fail(item: ItemRow, { error = "The turn failed.", isFinal, isPutBack }: Failure): void {
    const { store, inboxes, getSettings, onGivenUp } = this.#options;
    const { agent, message, attempts } = item;
    const failures = item.failures + 1;
    const { maxAttempts, backoffSeconds } = getSettings();
    if (isPutBack) {
      const patch = { status: "pending" as const, attempts: attempts - 1, delivery: null, dueAt: null };
      return inboxes.update(agent, message, patch);
    }
    if (!isFinal && failures < maxAttempts) {
      const dueAt = Date.now() + Math.min(backoffSeconds * 1000 * 4 ** (failures - 1), maxBackoffMs);
      return inboxes.update(agent, message, { status: "pending", failures, error, delivery: null, dueAt });
    }
    inboxes.update(agent, message, { status: "given_up", failures, error, delivery: null, dueAt: null });
    const row = store.findMessage(message);
    if (row) onGivenUp({ ...item, status: "given_up", failures, error }, row, error);
  }

  /** Returns the items that a delivery still has: its agent may have put some off or acknowledged them. */
  #listItems({ agent, messages, number }: DeliveryRow): ItemRow[] {
    const { store } = this.#options;
    return messages.flatMap((message) => {
      const item = store.findItem(agent, message);
      return item?.status === "seen" && item.delivery === number ? [item] : [];
    });
  }
}
