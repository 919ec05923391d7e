import {
  fail,
  type InboxAck,
  type InboxCounts,
  type InboxDefer,
  type InboxItem,
  type InboxItemList,
  type InboxQuery,
  type InboxStatus,
  inboxStatuses,
} from "@thinkery/sdk";
import { takePage } from "../../store/page.ts";
import type { ContextStore, ItemPatch, ItemRow, MessageRow } from "./context-store.ts";
import { formatMessageId, parseBoundary, requireMessageId } from "./message-id.ts";

export interface InboxesOptions {
  store: ContextStore;
  onItem(item: InboxItem): void;
}

export const openStatuses = ["pending", "seen", "deferred"] as const satisfies readonly InboxStatus[];

const defaultDeferMs = 5 * 60_000;
const maxDeferMs = 366 * 24 * 3600_000;
/** What is put off again and again is never handled. */
const maxDefers = 20;
const maxChanged = 500;

/** What the agents of an agency have to handle. */
export class Inboxes {
  readonly #options: InboxesOptions;

  constructor(options: InboxesOptions) {
    this.#options = options;
  }

  /** Adds a message to an inbox. */
  add(message: MessageRow, agent: string, givenUpBecause?: string): void {
    const { store } = this.#options;
    const { number, priority, createdAt } = message;
    const status = givenUpBecause === undefined ? "pending" : "given_up";
    store.insertItem({ agent, message: number, priority, createdAt, status });
    if (givenUpBecause !== undefined) store.updateItem(agent, number, { error: givenUpBecause });
    // So that the agent counts as one of the team from now on.
    store.putAgent(agent, {});
    this.#publish(agent, number);
  }

  list(agent: string, { status, limit, after }: InboxQuery): InboxItemList {
    const statuses = status === "open" ? openStatuses : status === "all" ? inboxStatuses : [status];
    const rows = this.#options.store.listItems({
      agent,
      statuses,
      after: after === undefined ? 0 : requireMessageId(after),
      limit: limit + 1,
    });
    return takePage(
      rows.flatMap((row) => this.#describe(row) ?? []),
      {
        limit,
        toItem: (item) => item,
        countChars: ({ content }) => 300 + content.length,
        toCursor: ({ id }) => id,
      },
    );
  }

  count(agent: string): InboxCounts {
    const { pending, seen, deferred, given_up: givenUp } = this.#options.store.countItems(agent);
    return { pending, seen, deferred, givenUp };
  }

  /** Marks items as handled. Those that are already are left out. */
  ack(agent: string, { ids, until }: InboxAck): InboxItem[] {
    const rows = ids ? ids.map((id) => this.#require(agent, id)) : this.#listUntil(agent, until ?? "");
    return this.#update(
      rows.filter(({ status }) => status !== "acked"),
      () => ({ status: "acked", dueAt: null, error: null }),
    );
  }

  /** Puts an open item off, also one that its agent is handling. */
  defer(agent: string, { id, until }: InboxDefer, now: number): InboxItem[] {
    const row = this.#require(agent, id);
    if (!isOpen(row)) throw fail("conflict", `“${id}” is ${row.status.replace("_", " ")} and cannot be deferred.`);
    if (row.attempts > maxDefers)
      throw fail("conflict", `“${id}” was put off ${maxDefers} times. Handle it, or acknowledge it with a reply.`);
    const dueAt = parseUntil(until, now);
    return this.#update([row], () => ({ status: "deferred", dueAt, delivery: null }));
  }

  /** Makes items pending again that were given up or put off. */
  retry(agent: string, ids: readonly string[]): InboxItem[] {
    const rows = ids.map((id) => this.#require(agent, id)).filter(({ status }) => status !== "seen");
    return this.#update(rows, () => ({ status: "pending", attempts: 0, dueAt: null, error: null, delivery: null }));
  }

  /** Changes items together, and tells those who watch. */
  #update(rows: readonly ItemRow[], createPatch: (row: ItemRow) => ItemPatch): InboxItem[] {
    const { store } = this.#options;
    store.transaction(() => {
      for (const row of rows) store.updateItem(row.agent, row.message, createPatch(row));
    });
    return rows.flatMap(({ agent, message }) => this.#publish(agent, message) ?? []);
  }

  /** Changes one item, and tells those who watch. */
  update(agent: string, message: number, patch: ItemPatch): void {
    this.#options.store.updateItem(agent, message, patch);
    this.#publish(agent, message);
  }

  #listUntil(agent: string, until: string): ItemRow[] {
    const boundary = parseBoundary(until, "until");
    return this.#options.store
      .listItems({ agent, statuses: openStatuses, after: 0, limit: maxChanged })
      .filter(({ message, createdAt }) =>
        "message" in boundary ? message <= boundary.message : createdAt <= boundary.time,
      );
  }

  #require(agent: string, id: string): ItemRow {
    const row = this.#options.store.findItem(agent, requireMessageId(id));
    if (!row) throw fail("not_found", `“${id}” is not in the inbox of ${agent}.`);
    return row;
  }

  #publish(agent: string, message: number): InboxItem | undefined {
    const { store, onItem } = this.#options;
    const row = store.findItem(agent, message);
    const item = row && this.#describe(row);
    if (item) onItem(item);
    return item;
  }

  #describe(row: ItemRow): InboxItem | undefined {
    const { store } = this.#options;
    const message = store.findMessage(row.message);
    if (!message) return undefined;
    const { channel, from, fromKind, content, resource, thread } = message;
    const runId = row.delivery === undefined ? undefined : store.findDelivery(row.delivery)?.runId;
    return {
      id: formatMessageId(row.message),
      agent: row.agent,
      channel,
      from,
      fromKind,
      content,
      ...(resource === undefined ? {} : { resource }),
      ...(thread === undefined ? {} : { thread: formatMessageId(thread) }),
      status: row.status,
      priority: row.priority,
      attempts: row.attempts,
      ...(row.error === undefined ? {} : { error: row.error }),
      ...(row.dueAt === undefined ? {} : { dueAt: new Date(row.dueAt).toISOString() }),
      ...(runId === undefined || row.status !== "seen" ? {} : { runId }),
      createdAt: new Date(row.createdAt).toISOString(),
    };
  }
}

export const isOpen = ({ status }: Pick<ItemRow, "status">) => openStatuses.some((open) => open === status);

function parseUntil(until: InboxDefer["until"], now: number): number {
  if (until === undefined) return now + defaultDeferMs;
  const at = typeof until === "number" ? now + until * 1000 : Date.parse(until);
  if (Number.isNaN(at)) throw fail("bad_request", `“until” must be seconds from now, or an ISO date; got “${until}”.`);
  if (at > now + maxDeferMs) throw fail("bad_request", "“until” is more than a year from now.");
  return Math.max(at, now + 1000);
}
