import { type InboxStatus, inboxStatuses } from "@thinkery/sdk";
import {
  createChannelTakenError,
  createItemExistsError,
  createKeyUsedError,
  createNoChannelError,
  createNoThreadError,
} from "./context-errors.ts";
import {
  type StoredAgent,
  type StoredChannel,
  type StoredDelivery,
  type StoredItem,
  type StoredMessage,
  toAgentRow,
  toChannelRow,
  toDeliveryRow,
  toItemRow,
  toMessageRow,
  toRank,
} from "./context-rows.ts";
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
import { addToCounts, deleteChannelPart } from "./delete-channel-part.ts";
import { findMessageRange } from "./message-range.ts";

// Verbatim as in the partial indexes, which are only used for such conditions.
const isWaiting = "status IN ('pending', 'deferred')";
const isOpenCount = "items > 0 AND status IN ('pending', 'seen', 'deferred')";

const selectMessages =
  "SELECT *, ifnull((SELECT replies FROM channel_threads WHERE message = number), 0) AS replies FROM channel_messages";

/** Stores channels and inboxes in the tables of store/schema/team.ts. */
export class SqlContextStore implements ContextStore {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
  }

  transaction<T>(work: () => T): T {
    return this.#storage.transactionSync(work);
  }

  listChannels(after: string, limit: number): ChannelRow[] {
    return this.#read<StoredChannel>(
      "SELECT * FROM channels WHERE name > ? AND hidden = 0 ORDER BY name LIMIT ?",
      after,
      limit,
    ).map(toChannelRow);
  }

  findChannel(name: string): ChannelRow | undefined {
    return this.#read<StoredChannel>("SELECT * FROM channels WHERE name = ? AND hidden = 0", name).map(toChannelRow)[0];
  }

  insertChannel({ name, kind, description, members, createdBy, createdAt }: NewChannelRow): void {
    const inserted = this.#read(
      `INSERT INTO channels (name, kind, description, members, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT DO NOTHING RETURNING name`,
      name,
      kind,
      description ?? null,
      members ? JSON.stringify(members) : null,
      createdBy,
      createdAt,
    );
    if (inserted.length === 0) throw createChannelTakenError(name);
  }

  deleteChannel(name: string, maxMessages: number): boolean {
    return this.transaction(() =>
      deleteChannelPart((query, ...values) => this.#read(query, ...values), name, maxMessages),
    );
  }

  listHiddenChannels(): string[] {
    const query = "SELECT name FROM channels WHERE hidden = 1 ORDER BY name";
    return this.#read<{ name: string }>(query).map(({ name }) => name);
  }

  insertMessage(message: NewMessageRow): number {
    return this.transaction(() => {
      const { key, thread } = message;
      if (key !== undefined && this.findMessageByKey(key)) throw createKeyUsedError(key);
      const channel = this.#countMessage(message);
      if (thread !== undefined) this.#countReply(thread, channel);
      const [inserted] = this.#read<{ number: number }>(
        `INSERT INTO channel_messages (channel, sender, sender_kind, content, resource, size, recipients, thread,
           priority, created_at, key, clock)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,
           max(?10, ifnull((SELECT clock FROM channel_messages ORDER BY clock DESC LIMIT 1), 0)))
         RETURNING number`,
        channel,
        message.from,
        message.fromKind,
        message.content,
        message.resource ?? null,
        message.size ?? null,
        JSON.stringify(message.to),
        thread ?? null,
        toRank(message.priority),
        message.createdAt,
        key ?? null,
      );
      return inserted?.number ?? 0;
    });
  }

  /** Returns the channel's name as it was spelled when it was created. */
  #countMessage({ channel, createdAt }: NewMessageRow): string {
    const [counted] = this.#read<{ name: string }>(
      "UPDATE channels SET messages = messages + 1, last_message_at = ? WHERE name = ? AND hidden = 0 RETURNING name",
      createdAt,
      channel,
    );
    if (!counted) throw createNoChannelError(channel);
    return counted.name;
  }

  #countReply(thread: number, channel: string): void {
    const root = this.#read("SELECT 1 FROM channel_messages WHERE number = ? AND channel = ?", thread, channel);
    if (root.length === 0) throw createNoThreadError(thread, channel);
    this.#read(
      "INSERT INTO channel_threads (message, replies) VALUES (?, 1) ON CONFLICT DO UPDATE SET replies = replies + 1",
      thread,
    );
  }

  findMessage(number: number): MessageRow | undefined {
    return this.#read<StoredMessage>(`${selectMessages} WHERE number = ?`, number).map(toMessageRow)[0];
  }

  findMessageByKey(key: string): MessageRow | undefined {
    return this.#read<StoredMessage>(`${selectMessages} WHERE key = ?`, key).map(toMessageRow)[0];
  }

  listMessages(filter: MessageFilter): MessageRow[] {
    const { channel, thread, limit, order } = filter;
    const { first, last } = findMessageRange(this.#storage.sql, filter);
    const table = `${selectMessages} WHERE number BETWEEN ?1 AND ?2`;
    const end = `ORDER BY number ${order === "oldest" ? "ASC" : "DESC"} LIMIT ?3`;
    const read = (query: string, ...values: SqlStorageValue[]) =>
      this.#read<StoredMessage>(`${query} ${end}`, first, last, limit, ...values).map(toMessageRow);
    if (thread === undefined) return channel === undefined ? read(table) : read(`${table} AND channel = ?4`, channel);
    const ofChannel = channel === undefined ? "" : "AND channel = ?5";
    return read(
      `${table} AND number = ?4 ${ofChannel} UNION ALL ${table} AND thread = ?4 ${ofChannel}`,
      thread,
      ...(channel === undefined ? [] : [channel]),
    );
  }

  insertItem({ agent, message, priority, createdAt, status }: NewItemRow): void {
    this.transaction(() => {
      const inserted = this.#read(
        `INSERT INTO inbox_items (message, agent, status, priority, created_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO NOTHING RETURNING message`,
        message,
        agent,
        status,
        toRank(priority),
        createdAt,
      );
      if (inserted.length === 0) throw createItemExistsError(agent, message);
      this.#count(agent, status, 1);
    });
  }

  findItem(agent: string, message: number): ItemRow | undefined {
    const rows = this.#read<StoredItem>("SELECT * FROM inbox_items WHERE message = ? AND agent = ?", message, agent);
    return rows.map(toItemRow)[0];
  }

  listItems({ agent, statuses, after, limit }: ItemFilter): ItemRow[] {
    if (statuses.length === 0) return [];
    // One query for each status, because only those return their rows in order. SQLite merges them.
    const queries = [...new Set(statuses)].map(
      (_, index) => `SELECT * FROM inbox_items WHERE agent = ?1 AND status = ?${index + 4} AND message > ?2`,
    );
    return this.#read<StoredItem>(
      `${queries.join(" UNION ALL ")} ORDER BY message LIMIT ?3`,
      agent,
      after,
      limit,
      ...new Set(statuses),
    ).map(toItemRow);
  }

  updateItem(agent: string, message: number, patch: ItemPatch): void {
    const { status, attempts, failures, dueAt, error, delivery } = patch;
    const values = {
      ...(status === undefined ? {} : { status }),
      ...(attempts === undefined ? {} : { attempts }),
      ...(failures === undefined ? {} : { failures }),
      ...(dueAt === undefined ? {} : { due_at: dueAt ?? 0 }),
      ...(error === undefined ? {} : { error }),
      ...(delivery === undefined ? {} : { delivery }),
    };
    this.transaction(() => {
      const before = this.findItem(agent, message);
      if (!before || Object.keys(values).length === 0) return;
      const assignments = Object.keys(values).map((name) => `${name} = ?`);
      this.#read(
        `UPDATE inbox_items SET ${assignments.join(", ")} WHERE message = ? AND agent = ?`,
        ...Object.values(values),
        message,
        agent,
      );
      if (status === undefined || status === before.status) return;
      this.#count(before.agent, before.status, -1);
      this.#count(before.agent, status, 1);
    });
  }

  #count(agent: string, status: InboxStatus, items: number): void {
    this.#read(`INSERT INTO inbox_counts (agent, status, items) VALUES (?, ?, ?) ${addToCounts}`, agent, status, items);
  }

  listDueAgents(now: number): string[] {
    return this.#read<{ agent: string }>(
      `SELECT DISTINCT agent FROM inbox_counts AS counts WHERE ${isOpenCount} AND EXISTS
         (SELECT 1 FROM inbox_items WHERE agent = counts.agent AND ${isWaiting} AND due_at <= ?) ORDER BY agent`,
      now,
    ).map(({ agent }) => agent);
  }

  listDueItems(agent: string, now: number, limit: number): ItemRow[] {
    const items = `SELECT * FROM inbox_items WHERE agent = ?1 AND ${isWaiting}`;
    // Items that never waited come in order from the index. Only those that did are sorted, usually a few.
    return this.#read<StoredItem>(
      `${items} AND due_at = 0 UNION ALL ${items} AND due_at BETWEEN 1 AND ?2 ORDER BY priority DESC, message LIMIT ?3`,
      agent,
      now,
      limit,
    ).map(toItemRow);
  }

  getNextDueAt(after: number): number | undefined {
    const query = `SELECT due_at FROM inbox_items WHERE ${isWaiting} AND due_at > ? ORDER BY due_at LIMIT 1`;
    return this.#read<{ due_at: number }>(query, after)[0]?.due_at;
  }

  countItems(agent: string): ItemCounts {
    const rows = this.#read<{ status: InboxStatus; items: number }>(
      "SELECT status, items FROM inbox_counts WHERE agent = ?",
      agent,
    );
    const counts = new Map(rows.map(({ status, items }) => [status, items]));
    return Object.fromEntries(inboxStatuses.map((status) => [status, counts.get(status) ?? 0])) as ItemCounts;
  }

  hasOpenItems(): boolean {
    return this.#read(`SELECT 1 FROM inbox_counts WHERE ${isOpenCount} LIMIT 1`).length > 0;
  }

  insertDelivery({ agent, messages, startedAt }: NewDeliveryRow): number {
    const [inserted] = this.#read<{ number: number }>(
      "INSERT INTO inbox_deliveries (agent, messages, started_at) VALUES (?, ?, ?) RETURNING number",
      agent,
      JSON.stringify(messages),
      startedAt,
    );
    return inserted?.number ?? 0;
  }

  findDelivery(number: number): DeliveryRow | undefined {
    const rows = this.#read<StoredDelivery>("SELECT * FROM inbox_deliveries WHERE number = ?", number);
    return rows.map(toDeliveryRow)[0];
  }

  listDeliveries(agent?: string): DeliveryRow[] {
    const rows =
      agent === undefined
        ? this.#read<StoredDelivery>("SELECT * FROM inbox_deliveries ORDER BY number")
        : this.#read<StoredDelivery>("SELECT * FROM inbox_deliveries WHERE agent = ? ORDER BY number", agent);
    return rows.map(toDeliveryRow);
  }

  setDeliveryRun(number: number, runId: string): void {
    this.#read("UPDATE inbox_deliveries SET run_id = ? WHERE number = ?", runId, number);
  }

  closeDelivery(number: number): void {
    this.#read("DELETE FROM inbox_deliveries WHERE number = ?", number);
  }

  findAgent(agent: string): AgentRow | undefined {
    return this.#read<StoredAgent>("SELECT * FROM team_agents WHERE agent = ?", agent).map(toAgentRow)[0];
  }

  putAgent(agent: string, { note, task, turnsWithoutProgress }: AgentPatch): void {
    const values = {
      agent,
      ...(note === undefined ? {} : { note }),
      ...(task === undefined ? {} : { task }),
      ...(turnsWithoutProgress === undefined ? {} : { turns_without_progress: turnsWithoutProgress }),
    };
    const [, ...changed] = Object.keys(values);
    const update = changed.map((name) => `${name} = excluded.${name}`).join(", ");
    this.#read(
      `INSERT INTO team_agents (${Object.keys(values).join(", ")}) VALUES (${Object.keys(values)
        .map(() => "?")
        .join(", ")})
       ON CONFLICT (agent) DO ${update === "" ? "NOTHING" : `UPDATE SET ${update}`}`,
      ...Object.values(values),
    );
  }

  removeAgent(agent: string): void {
    this.transaction(() => {
      for (const table of ["inbox_items", "inbox_counts", "inbox_deliveries", "team_agents"])
        this.#read(`DELETE FROM ${table} WHERE agent = ?`, agent);
    });
  }

  #read<Row extends Record<string, SqlStorageValue>>(query: string, ...values: SqlStorageValue[]): Row[] {
    return this.#storage.sql.exec<Row>(query, ...values).toArray();
  }
}
