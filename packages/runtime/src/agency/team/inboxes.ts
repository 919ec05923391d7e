import {
  fail,
  type InboxAck,
  type InboxChange,
  type InboxCounts,
  type InboxDefer,
  type InboxItem,
  type InboxItemList,
  type InboxQuery,
  type InboxStatus,
  inboxStatuses,
} from "@thinkery/sdk";
import { Pacer } from "../../host/fair-work.ts";
import { maxPageChars, takePage } from "../../store/page.ts";
import type { ContextStore, ItemPatch, ItemRow, MessageRow } from "./context-store.ts";
import { formatMessageId, parseBoundary, requireMessageId } from "./message-id.ts";

export interface InboxesOptions {
  store: ContextStore;
  /** Called when an item was added or changed. There is none to describe if its message was deleted. */
  onItem(describe: () => InboxItem | undefined): void;
  /** Whose work it is to change many items. */
  owner?: string;
}

export const openStatuses = ["pending", "seen", "deferred"] as const satisfies readonly InboxStatus[];

const defaultDeferMs = 5 * 60_000;
const maxDeferMs = 366 * 24 * 3600_000;
/** What is put off again and again is never handled. */
const maxDefers = 20;
/** Items that a response describes. */
const maxItems = 500;
/** Items that are changed at once, and how much work one of them is, in microseconds. */
const itemsPerSlice = 100;
const unitsPerItem = 100;

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
  async ack(agent: string, { ids, until }: InboxAck): Promise<InboxChange> {
    const patch: ItemPatch = { status: "acked", dueAt: null, error: null };
    if (ids === undefined) return this.#updateUntil(agent, until ?? "", patch);
    const rows = ids.map((id) => this.#require(agent, id));
    return this.#describeChange(
      this.#update(
        rows.filter(({ status }) => status !== "acked"),
        patch,
      ),
    );
  }

  /** Puts an open item off, also one that its agent is handling. */
  defer(agent: string, { id, until }: InboxDefer, now: number): InboxChange {
    const row = this.#require(agent, id);
    if (!isOpen(row)) throw fail("conflict", `“${id}” is ${row.status.replace("_", " ")} and cannot be deferred.`);
    if (row.attempts - row.failures > maxDefers)
      throw fail("conflict", `“${id}” was put off ${maxDefers} times. Handle it, or acknowledge it with a reply.`);
    const dueAt = parseUntil(until, now);
    return this.#describeChange(this.#update([row], { status: "deferred", dueAt, delivery: null }));
  }

  /** Makes items due that were given up or wait for something. Those that are handled are left out. */
  retry(agent: string, ids: readonly string[]): InboxChange {
    const rows = ids.map((id) => this.#require(agent, id));
    const isLeftOut = ({ status }: ItemRow) => status === "seen" || status === "acked";
    const counts = { attempts: 0, failures: 0 };
    const patch: ItemPatch = { status: "pending", ...counts, dueAt: null, error: null, delivery: null };
    return this.#describeChange(
      this.#update(
        rows.filter((row) => !isLeftOut(row)),
        patch,
      ),
    );
  }

  /** Gives up everything that is open. */
  async giveUpAll(agent: string, error: string): Promise<void> {
    await this.#updateOpen(agent, { status: "given_up", dueAt: null, error }, () => true);
  }

  /** Changes items together, and tells those who watch. */
  #update(rows: readonly ItemRow[], patch: ItemPatch): readonly ItemRow[] {
    const { store } = this.#options;
    store.transaction(() => {
      for (const row of rows) store.updateItem(row.agent, row.message, patch);
    });
    for (const { agent, message } of rows) this.#publish(agent, message);
    return rows;
  }

  async #updateUntil(agent: string, until: string, patch: ItemPatch): Promise<InboxChange> {
    const boundary = parseBoundary(until, "until");
    const isWanted = ({ message, createdAt }: ItemRow) =>
      "message" in boundary ? message <= boundary.message : createdAt <= boundary.time;
    return this.#describeChange(await this.#updateOpen(agent, patch, isWanted));
  }

  /** Changes open items in slices: there may be any number of them. What is added meanwhile is left as it is. */
  async #updateOpen(agent: string, patch: ItemPatch, isWanted: (row: ItemRow) => boolean): Promise<ItemRow[]> {
    const { store, owner } = this.#options;
    const [newest] = store.listMessages({ limit: 1, order: "newest" });
    const pacer = new Pacer(owner);
    const changed: ItemRow[] = [];
    for (let after = 0; ;) {
      const rows = store.listItems({ agent, statuses: openStatuses, after, limit: itemsPerSlice });
      const wanted = rows.filter((row) => row.message <= (newest?.number ?? 0) && isWanted(row));
      changed.push(...this.#update(wanted, patch));
      after = rows.at(-1)?.message ?? 0;
      if (rows.length < itemsPerSlice) return changed;
      await pacer.pauseIfDue(itemsPerSlice * unitsPerItem);
    }
  }

  /** Describes the items that were changed, as far as they fit into a response. */
  #describeChange(rows: readonly ItemRow[]): InboxChange {
    const items: InboxItem[] = [];
    let chars = 0;
    for (const { agent, message } of rows) {
      if (items.length === maxItems || chars > maxPageChars) break;
      const item = this.#find(agent, message);
      if (!item) continue;
      items.push(item);
      chars += item.content.length;
    }
    return items.length < rows.length ? { items, omitted: rows.length - items.length } : { items };
  }

  /** Changes one item, and tells those who watch. */
  update(agent: string, message: number, patch: ItemPatch): void {
    this.#options.store.updateItem(agent, message, patch);
    this.#publish(agent, message);
  }

  #require(agent: string, id: string): ItemRow {
    const row = this.#options.store.findItem(agent, requireMessageId(id));
    if (!row) throw fail("not_found", `“${id}” is not in the inbox of ${agent}.`);
    return row;
  }

  #publish(agent: string, message: number): void {
    this.#options.onItem(() => this.#find(agent, message));
  }

  #find(agent: string, message: number): InboxItem | undefined {
    const row = this.#options.store.findItem(agent, message);
    return row && this.#describe(row);
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
