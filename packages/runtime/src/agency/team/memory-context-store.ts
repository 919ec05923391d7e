import { inboxStatuses, priorities } from "@thinkery/sdk";
import {
  createChannelTakenError,
  createItemExistsError,
  createKeyUsedError,
  createNoChannelError,
  createNoThreadError,
} from "./context-errors.ts";
import type {
  AgentPatch,
  AgentRow,
  ChannelRow,
  ContextStore,
  DeliveryRow,
  ItemCounts,
  ItemFilter,
  ItemPatch,
  ItemRow,
  MessageFilter,
  MessageRow,
  NewChannelRow,
  NewDeliveryRow,
  NewItemRow,
  NewMessageRow,
} from "./context-store.ts";
import { MemoryTables } from "./memory-tables.ts";

interface StoredChannel extends ChannelRow {
  isHidden?: boolean;
}

interface StoredMessage {
  row: MessageRow;
  key?: string;
  /** The latest time of this message and all before it. */
  clock: number;
}

/** Stores channels and inboxes in memory: for tests, and where nothing has to last. Lists read everything. */
export class MemoryContextStore implements ContextStore {
  readonly #tables = new MemoryTables();
  readonly #channels = new Map<string, StoredChannel>();
  readonly #messages = new Map<number, StoredMessage>();
  readonly #keys = new Map<string, number>();
  readonly #items = new Map<string, ItemRow>();
  readonly #deliveries = new Map<number, DeliveryRow>();
  readonly #agents = new Map<string, AgentRow>();
  readonly #counters = new Map<"message" | "delivery" | "clock", number>();

  transaction<T>(work: () => T): T {
    return this.#tables.transaction(work);
  }

  listChannels(after: string, limit: number): ChannelRow[] {
    const names = [...this.#channels.keys()].filter((name) => name > toKey(after)).sort();
    return names.flatMap((name) => this.findChannel(name) ?? []).slice(0, limit);
  }

  findChannel(name: string): ChannelRow | undefined {
    const channel = this.#channels.get(toKey(name));
    return channel?.isHidden ? undefined : structuredClone(channel);
  }

  insertChannel(channel: NewChannelRow): void {
    if (this.#channels.has(toKey(channel.name))) throw createChannelTakenError(channel.name);
    this.#tables.set(this.#channels, toKey(channel.name), { ...structuredClone(channel), messages: 0 });
  }

  deleteChannel(name: string, maxMessages: number): boolean {
    return this.transaction(() => {
      const channel = this.#channels.get(toKey(name));
      if (channel) this.#tables.set(this.#channels, toKey(name), { ...channel, isHidden: true });
      const numbers = [...this.#messages.values()].flatMap(({ row }) => (isSame(row.channel, name) ? row.number : []));
      const gone = new Set(numbers.sort((one, other) => one - other).slice(0, maxMessages));
      for (const { agent, message } of this.#items.values())
        if (gone.has(message)) this.#tables.set(this.#items, toItemKey(agent, message), undefined);
      for (const number of gone) {
        const key = this.#messages.get(number)?.key;
        if (key !== undefined) this.#tables.set(this.#keys, key, undefined);
        this.#tables.set(this.#messages, number, undefined);
      }
      const clock = [...this.#messages.values()].reduce((latest, message) => Math.max(latest, message.clock), 0);
      this.#tables.set(this.#counters, "clock", clock);
      if (gone.size < numbers.length) return false;
      this.#tables.set(this.#channels, toKey(name), undefined);
      return true;
    });
  }

  listHiddenChannels(): string[] {
    const hidden = [...this.#channels.values()].flatMap(({ name, isHidden }) => (isHidden ? name : []));
    return hidden.sort((one, other) => (toKey(one) < toKey(other) ? -1 : 1));
  }

  insertMessage({ key, ...message }: NewMessageRow): number {
    return this.transaction(() => {
      if (key !== undefined && this.#keys.has(key)) throw createKeyUsedError(key);
      const channel = this.findChannel(message.channel);
      if (!channel) throw createNoChannelError(message.channel);
      if (message.thread !== undefined) this.#countReply(message.thread, channel.name);
      const number = this.#createNumber("message");
      const clock = Math.max(message.createdAt, this.#counters.get("clock") ?? 0);
      const row: MessageRow = { ...structuredClone(message), number, channel: channel.name, replies: 0 };
      this.#tables.set(this.#counters, "clock", clock);
      this.#tables.set(this.#messages, number, { row, clock, ...(key === undefined ? {} : { key }) });
      if (key !== undefined) this.#tables.set(this.#keys, key, number);
      this.#tables.set(this.#channels, toKey(channel.name), {
        ...channel,
        messages: channel.messages + 1,
        lastMessageAt: message.createdAt,
      });
      return number;
    });
  }

  #countReply(thread: number, channel: string): void {
    const stored = this.#messages.get(thread);
    if (!stored || stored.row.channel !== channel) throw createNoThreadError(thread, channel);
    const row = { ...stored.row, replies: stored.row.replies + 1 };
    this.#tables.set(this.#messages, thread, { ...stored, row });
  }

  findMessage(number: number): MessageRow | undefined {
    return structuredClone(this.#messages.get(number)?.row);
  }

  findMessageByKey(key: string): MessageRow | undefined {
    const number = this.#keys.get(key);
    return number === undefined ? undefined : this.findMessage(number);
  }

  listMessages(filter: MessageFilter): MessageRow[] {
    const { channel, thread, since, until, after = 0, upTo = Infinity, before = Infinity } = filter;
    const matches = ({ row, clock }: StoredMessage) =>
      (channel === undefined || isSame(row.channel, channel)) &&
      (thread === undefined || row.number === thread || row.thread === thread) &&
      (since === undefined || clock >= since) &&
      (until === undefined || clock <= until) &&
      row.number > after &&
      row.number <= upTo &&
      row.number < before;
    const sign = filter.order === "oldest" ? 1 : -1;
    return [...this.#messages.values()]
      .filter(matches)
      .sort((one, other) => sign * (one.row.number - other.row.number))
      .slice(0, filter.limit)
      .map(({ row }) => structuredClone(row));
  }

  insertItem(item: NewItemRow): void {
    const key = toItemKey(item.agent, item.message);
    if (this.#items.has(key)) throw createItemExistsError(item.agent, item.message);
    this.#tables.set(this.#items, key, { ...item, attempts: 0, failures: 0 });
  }

  findItem(agent: string, message: number): ItemRow | undefined {
    return structuredClone(this.#items.get(toItemKey(agent, message)));
  }

  listItems({ agent, statuses, after, limit }: ItemFilter): ItemRow[] {
    return this.#filterItems((item) => {
      return isSame(item.agent, agent) && statuses.includes(item.status) && item.message > after;
    })
      .sort((one, other) => one.message - other.message)
      .slice(0, limit);
  }

  updateItem(agent: string, message: number, { status, attempts, failures, dueAt, ...optional }: ItemPatch): void {
    const key = toItemKey(agent, message);
    const item = this.#items.get(key);
    if (!item) return;
    const counts = { attempts: attempts ?? item.attempts, failures: failures ?? item.failures };
    const changed = { ...item, status: status ?? item.status, ...counts };
    // A time of 0 is none.
    this.#tables.set(this.#items, key, patchRow(changed, { ...optional, dueAt: dueAt === 0 ? null : dueAt }));
  }

  listDueAgents(now: number): string[] {
    const agents = this.#filterItems((item) => isDue(item, now)).map(({ agent }) => agent);
    return [...new Set(agents)].sort((one, other) => (toKey(one) < toKey(other) ? -1 : 1));
  }

  listDueItems(agent: string, now: number, limit: number): ItemRow[] {
    const rank = ({ priority }: ItemRow) => priorities.indexOf(priority);
    return this.#filterItems((item) => isSame(item.agent, agent) && isDue(item, now))
      .sort((one, other) => rank(other) - rank(one) || one.message - other.message)
      .slice(0, limit);
  }

  getNextDueAt(after: number): number | undefined {
    const times = this.#filterItems(isWaiting).flatMap(({ dueAt = 0 }) => (dueAt > after ? [dueAt] : []));
    return times.length === 0 ? undefined : Math.min(...times);
  }

  countItems(agent: string): ItemCounts {
    const items = this.#filterItems((item) => isSame(item.agent, agent));
    const count = (status: ItemRow["status"]) => items.filter((item) => item.status === status).length;
    return Object.fromEntries(inboxStatuses.map((status) => [status, count(status)])) as ItemCounts;
  }

  hasOpenItems(): boolean {
    return [...this.#items.values()].some(({ status }) => status !== "acked" && status !== "given_up");
  }

  #filterItems(matches: (item: ItemRow) => boolean): ItemRow[] {
    return [...this.#items.values()].filter(matches).map((item) => ({ ...item }));
  }

  insertDelivery(delivery: NewDeliveryRow): number {
    return this.transaction(() => {
      const number = this.#createNumber("delivery");
      this.#tables.set(this.#deliveries, number, { ...structuredClone(delivery), number });
      return number;
    });
  }

  findDelivery(number: number): DeliveryRow | undefined {
    return structuredClone(this.#deliveries.get(number));
  }

  listDeliveries(agent?: string): DeliveryRow[] {
    return [...this.#deliveries.values()]
      .filter((delivery) => agent === undefined || isSame(delivery.agent, agent))
      .sort((one, other) => one.number - other.number)
      .map((delivery) => structuredClone(delivery));
  }

  setDeliveryRun(number: number, runId: string): void {
    const delivery = this.#deliveries.get(number);
    if (delivery) this.#tables.set(this.#deliveries, number, { ...delivery, runId });
  }

  closeDelivery(number: number): void {
    this.#tables.set(this.#deliveries, number, undefined);
  }

  findAgent(agent: string): AgentRow | undefined {
    return structuredClone(this.#agents.get(toKey(agent)));
  }

  putAgent(agent: string, { turnsWithoutProgress, ...optional }: AgentPatch): void {
    const row = this.#agents.get(toKey(agent)) ?? { agent, turnsWithoutProgress: 0 };
    const changed = { ...row, turnsWithoutProgress: turnsWithoutProgress ?? row.turnsWithoutProgress };
    this.#tables.set(this.#agents, toKey(agent), patchRow(changed, optional));
  }

  removeAgent(agent: string): void {
    this.transaction(() => {
      for (const [key, item] of this.#items)
        if (isSame(item.agent, agent)) this.#tables.set(this.#items, key, undefined);
      for (const { number } of this.listDeliveries(agent)) this.closeDelivery(number);
      this.#tables.set(this.#agents, toKey(agent), undefined);
    });
  }

  #createNumber(counter: "message" | "delivery"): number {
    const number = (this.#counters.get(counter) ?? 0) + 1;
    this.#tables.set(this.#counters, counter, number);
    return number;
  }
}

const toKey = (name: string) => name.toLowerCase();

const isSame = (one: string, other: string) => toKey(one) === toKey(other);

const toItemKey = (agent: string, message: number) => `${toKey(agent)} ${message}`;

const isWaiting = ({ status }: ItemRow) => status === "pending" || status === "deferred";

const isDue = (item: ItemRow, now: number) => isWaiting(item) && (item.dueAt ?? 0) <= now;

type Nullable<Row> = { [Name in keyof Row]?: Row[Name] | null };

/** Null removes a value, undefined leaves it as it is. */
function patchRow<Row extends object>(row: Row, patch: Nullable<Row>): Row {
  const changes = Object.entries(patch).filter(([, value]) => value !== undefined);
  const entries = Object.entries({ ...row, ...Object.fromEntries(changes) });
  return Object.fromEntries(entries.filter(([, value]) => value !== null && value !== undefined)) as Row;
}
