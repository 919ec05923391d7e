import { fail } from "@thinkery/sdk";
import type { SlotRenewal } from "@thinkery/sdk/internal";
import { Lease } from "./lease.ts";
import { type ProcessInfo, SlotMaintenance } from "./slot-maintenance.ts";
import { findLongestIdle, Slot, type SlotTenant } from "./slot.ts";

/** The part of the daemon that the slots use. */
export interface ProcessManager {
  /** Replaces a slot's process; resolves when the new one is ready for code. Generation -1 replaces nothing. */
  renew(index: number, generation: number, isGone: boolean): Promise<SlotRenewal>;
  /** Returns the processes of all slots. */
  inspect(): Promise<readonly ProcessInfo[]>;
}

export interface SlotLimits {
  /** A process is replaced after this many runs. */
  runs: number;
  /** A process with more memory, or that would load more isolates to stay, takes no new leases. */
  bytes: number;
  isolates: number;
  /** How long an idle agent keeps its process before it may be replaced. */
  restMs: number;
  /** How often the memory of a busy process is checked. */
  memoryCheckMs: number;
  /** After each such time that the first caller waits, one more busy process takes no new requests. */
  fairMs: number;
  /** How long a request waits at most for its agent's own process to finish the others. */
  drainMs: number;
}

export interface LeaseTerms extends SlotTenant {
  /** Whether other shared leases of the same agent may use the slot at the same time. */
  shared: boolean;
  /** The isolate that it loads, if that stays loaded. */
  isolate?: string;
  /** Whether a current holder waits for it, so that it must not wait for that holder. */
  isAwaited?: boolean;
  /** A holder that has not returned the slot by then is considered gone. */
  maxMs: number;
  waitMs: number;
  /** Leaves the queue at once. */
  signal: AbortSignal;
  /** Called with the number of callers ahead, whenever it changes. */
  onPlace(before: number): void;
}

interface Place {
  since: number;
  wake(): void;
}

/** How often a waiting caller checks for expired leases. */
const pollIntervalMs = 200;
/** How long a renewal may take before its holder is considered gone. */
const maxRenewalMs = 10_000;
/** A process that was idle for longer may have ended unnoticed, for example if the machine ran out of memory. */
const maxTrustedIdleMs = 5_000;

/**
 * The sandboxes of this host. A process belongs to one agent and is never given to another: whatever code leaves behind
 * in a process, only code of the same agent can find it.
 *
 * Holders may vanish at any moment, so every lease expires.
 */
export class Slots {
  readonly #slots: Slot[];
  readonly #processes: ProcessManager;
  readonly #limits: SlotLimits;
  /** Waiting callers, in order of arrival. */
  readonly #queue: Place[] = [];
  readonly #maintenance: SlotMaintenance;

  constructor(count: number, processes: ProcessManager, limits: SlotLimits) {
    this.#processes = processes;
    this.#limits = limits;
    this.#slots = Array.from({ length: count }, (_, index) => new Slot(index));
    this.#maintenance = new SlotMaintenance({
      slots: this.#slots,
      limits,
      inspect: () => processes.inspect(),
      retire: (slot) => this.#retire(slot),
      replace: (slot) => this.#replace(slot),
    });
  }

  get waitingCount(): number {
    return this.#queue.length;
  }

  /** Returns each slot's current agent and the number of runs of its process. */
  status(): { agent?: string; runs: number }[] {
    return this.#slots.map(({ tenant, runs, isIdle }) => ({
      runs,
      ...(tenant && !isIdle ? { agent: tenant.agent } : {}),
    }));
  }

  /** Returns the process that an agent's shared leases use, if there is one. */
  async describe(agent: string): Promise<{ memoryBytes?: number; isolates: number } | undefined> {
    const own = this.#slots.filter((slot) => slot.isOf({ agent }) && slot.generation >= 0 && !slot.isSpent);
    const slot = own.find(({ isRetired }) => !isRetired) ?? own[0];
    if (!slot) return undefined;
    const { memoryBytes, generation } = (await this.#processes.inspect())[slot.index] ?? {};
    if (generation !== slot.generation) return undefined;
    return { isolates: slot.isolates.size, ...(memoryBytes === undefined ? {} : { memoryBytes }) };
  }

  /** Leases a slot to an agent, ready for its code. */
  async lease(terms: LeaseTerms): Promise<Lease> {
    const lease = await this.#acquire(terms);
    try {
      await lease.prepare();
      terms.signal.throwIfAborted();
      return lease;
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  /**
   * Called when an agent is deleted. Its code is terminated now, because those who waited for it may be gone before they
   * could do that. And another agent of the same name must not find what it left.
   *
   * With a prefix, only partitions whose name starts with it are forgotten.
   */
  async forget(agent: string, prefix?: string): Promise<void> {
    const slots = this.#slots.filter(
      ({ tenant }) => tenant?.agent === agent && (prefix === undefined || tenant.partition?.startsWith(prefix)),
    );
    await Promise.all(
      slots.map((slot) => {
        const wasIdle = slot.isIdle;
        slot.spend();
        slot.tenant = undefined;
        slot.leases.clear();
        return wasIdle ? undefined : this.#replace(slot);
      }),
    );
  }

  async #acquire(terms: LeaseTerms): Promise<Lease> {
    const { signal, waitMs, onPlace } = terms;
    const place: Place = { since: Date.now(), wake: () => {} };
    this.#queue.push(place);
    const leave = () => place.wake();
    signal.addEventListener("abort", leave);
    let reported: number | undefined;
    try {
      for (;;) {
        signal.throwIfAborted();
        this.#reclaim();
        const before = this.#queue.indexOf(place);
        const waitedMs = Date.now() - place.since;
        const isFirst = before === 0;
        const lease = this.#tryJoin(terms, { isFirst, waitedMs }) ?? (isFirst ? this.#tryTake(terms) : undefined);
        if (lease) return lease;
        if (before !== reported) onPlace((reported = before));
        if (waitedMs > waitMs) throw fail("unavailable", `No sandbox was free for ${Math.round(waitMs / 1000)} s.`);
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, pollIntervalMs);
          place.wake = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      }
    } finally {
      signal.removeEventListener("abort", leave);
      this.#queue.splice(this.#queue.indexOf(place), 1);
      this.#wake();
    }
  }

  /** Wakes all who wait, the first one first: when one of them gets a slot, others may be able to join it. */
  #wake(): void {
    for (const place of this.#queue) place.wake();
  }

  /** Joins a busy process of the same agent. */
  #tryJoin(terms: LeaseTerms, { isFirst = false, waitedMs = 0 } = {}): Lease | undefined {
    if (!terms.shared) return undefined;
    const own = this.#slots.filter((slot) => slot.isOf(terms) && slot.isShared && slot.isUsable);
    for (const slot of own) if (!this.#hasRoom(slot, terms)) slot.isRetired = true;
    const remaining = own.filter(({ isRetired }) => !isRetired);
    const reserved = isFirst ? [] : this.#listReserved();
    const mustNotWait = terms.isAwaited || waitedMs >= this.#limits.drainMs;
    const slot =
      remaining.find((slot) => !reserved.includes(slot)) ?? (mustNotWait ? (remaining[0] ?? own[0]) : undefined);
    return slot && this.#createLease(slot, terms);
  }

  /**
   * Busy processes that others may not join, so that the first in the queue gets one that finishes its requests. They
   * are open again as soon as it has any.
   */
  #listReserved(): Slot[] {
    const first = this.#queue[0];
    if (!first) return [];
    const count = Math.floor((Date.now() - first.since) / this.#limits.fairMs);
    // Retired ones finish anyway.
    return this.#slots
      .filter((slot) => slot.isShared)
      .toSorted((a, b) => Number(b.isRetired) - Number(a.isRetired) || a.busySince - b.busySince)
      .slice(0, count);
  }

  #hasRoom({ isolates, isSpent }: Slot, { isolate }: LeaseTerms): boolean {
    return isSpent || isolate === undefined || isolates.has(isolate) || isolates.size < this.#limits.isolates;
  }

  /** Takes an idle slot. */
  #tryTake(terms: LeaseTerms): Lease | undefined {
    const idle = this.#slots.filter((slot) => slot.isIdle);
    const slot =
      idle.find((slot) => slot.isOf(terms) && !slot.isSpent) ??
      idle.find(({ tenant }) => tenant === undefined) ??
      findLongestIdle(idle);
    if (!slot) return undefined;
    // Whatever another agent's code left behind is discarded with its process.
    if ((slot.tenant && !slot.isOf(terms)) || !this.#hasRoom(slot, terms)) slot.spend();
    const { agent, partition } = terms;
    slot.tenant = { agent, ...(partition === undefined ? {} : { partition }) };
    const lease = this.#createLease(slot, terms);
    // Begun here, so that others can already join.
    this.#ensureProcess(slot);
    return lease;
  }

  #createLease(slot: Slot, { shared, isolate, maxMs }: Pick<LeaseTerms, "shared" | "isolate" | "maxMs">): Lease {
    const lease: Lease = new Lease({
      index: slot.index,
      shared,
      isolate,
      expiresAt: Date.now() + maxMs + maxRenewalMs,
      prepare: async () => {
        await this.#untilReady(slot);
        if (!slot.leases.has(lease)) throw fail("unavailable", "The sandbox was taken back.");
        // Requests of apps and user agents do not wear out a process.
        if (!shared) slot.runs++;
        slot.serves ||= shared;
        slot.keepIsolate(lease);
        return slot.generation;
      },
      release: (isSpent) => this.#release(slot, lease, isSpent),
      abandon: () => this.#abandon(slot, lease),
      lose: async (isGone) => {
        const { generation } = lease;
        if (slot.generation !== generation) return this.#renew(slot, generation, isGone);
        slot.spend();
        return this.#setRenewing(slot, this.#renew(slot, generation, isGone));
      },
    });
    slot.add(lease);
    this.#maintenance.schedule();
    return lease;
  }

  /** Sets `renewing` if the slot's process must be replaced, or may have ended unnoticed. */
  #ensureProcess(slot: Slot): void {
    if (slot.renewing) return;
    const isTrusted = Date.now() <= slot.idleSince + maxTrustedIdleMs;
    if (slot.isSpent) void this.#setRenewing(slot, this.#renew(slot, slot.generation, false));
    else if (slot.generation < 0 || !isTrusted) void this.#setRenewing(slot, this.#renew(slot, -1, false));
  }

  async #untilReady(slot: Slot): Promise<void> {
    await slot.renewing;
    // An earlier attempt failed, or began before the process was spent.
    if (slot.isSpent || slot.generation < 0) this.#ensureProcess(slot);
    await slot.renewing;
  }

  #setRenewing<T>(slot: Slot, renewal: Promise<T>): Promise<T> {
    slot.renewing = renewal;
    const clear = () => {
      if (slot.renewing === renewal) slot.renewing = undefined;
    };
    // Those who need the process see why there is none.
    renewal.then(clear, clear);
    return renewal;
  }

  async #renew(slot: Slot, generation: number, isGone: boolean): Promise<SlotRenewal["ended"]> {
    const isCurrent = generation >= 0 && generation === slot.generation;
    let renewal = await this.#processes.renew(slot.index, generation, isGone);
    // The process had ended unnoticed, and its successor may have been used since. It has to be replaced as well.
    if (!isGone && isCurrent && renewal.ended !== "asked")
      renewal = await this.#processes.renew(slot.index, renewal.generation, false);
    slot.adopt(renewal.generation);
    return renewal.ended;
  }

  #release(slot: Slot, lease: Lease, isSpent: boolean): void {
    if (!slot.leases.delete(lease)) return;
    // Its process may have been replaced already.
    if (isSpent && lease.generation === slot.generation) slot.isRetired = true;
    if (!slot.isIdle) return;
    slot.idleSince = Date.now();
    const { isRetired } = slot;
    if (isRetired || slot.runs >= this.#limits.runs) slot.spend();
    // Whoever waits has it replaced.
    if (isRetired && this.#queue.length === 0) void this.#replace(slot);
    this.#wake();
    this.#maintenance.schedule();
  }

  /** Called when the holder is gone. Code that it may have left running is terminated. */
  #abandon(slot: Slot, lease: Lease): void {
    if (!slot.leases.delete(lease)) return;
    // Its request ended with its connection; the requests of others go on.
    if (!slot.isIdle) return;
    void this.#replace(slot);
  }

  /** Has a process replaced once nobody uses it. */
  #retire(slot: Slot): void {
    if (slot.isIdle) void this.#replace(slot);
    else slot.isRetired = true;
  }

  async #replace(slot: Slot): Promise<void> {
    // It counts as unused from now on, so that no second one is prepared.
    slot.spend();
    slot.tenant = undefined;
    const lease = this.#createLease(slot, { shared: false, maxMs: 0 });
    // If this fails, the next lease of the slot tries again and reports the error.
    await this.#untilReady(slot).catch(() => {});
    lease.release();
  }

  /** Reclaims expired leases, for example of an agent that was deleted during a run. */
  #reclaim(): void {
    for (const slot of this.#slots) {
      for (const lease of slot.leases) {
        if (Date.now() < lease.expiresAt) continue;
        slot.leases.delete(lease);
        if (slot.isIdle) slot.spend();
        else slot.isRetired = true;
      }
    }
  }
}
