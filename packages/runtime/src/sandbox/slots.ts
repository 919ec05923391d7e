import { fail } from "@thinkery/sdk";
import type { SlotRenewal } from "@thinkery/sdk/internal";
import { Lease } from "./lease.ts";

/** The part of the daemon that the slots use. */
export interface ProcessManager {
  /** Replaces a slot's process; resolves when the new one is ready for code. */
  renew(index: number, generation: number, isGone: boolean): Promise<SlotRenewal>;
  /** Returns the memory usage of a slot's process, in bytes. */
  memory(index: number): Promise<number | undefined>;
}

/** When a process is worn out and has to be replaced. */
export interface WearLimits {
  runs: number;
  bytes: number;
  /** How long an idle agent keeps its process before it may be replaced. */
  restMs: number;
}

export interface LeaseTerms {
  agent: string;
  /** Whether other shared leases of the same agent may use the slot at the same time. */
  shared: boolean;
  /** A holder that has not returned the slot by then is considered gone. */
  maxMs: number;
  waitMs: number;
  /** Leaves the queue at once. */
  signal: AbortSignal;
  /** Called with the number of callers ahead, whenever it changes. */
  onPlace(before: number): void;
}

interface Slot {
  readonly index: number;
  /** The last of its processes that was known to be ready. */
  generation: number;
  /** The agent whose code the process has run, if any. */
  agent: string | undefined;
  runs: number;
  /** Current holders: one run, or concurrent requests of one app. */
  readonly leases: Set<Lease>;
  /** When it was last returned. */
  idleSince: number;
  /** Whether its process must be replaced before the next lease. */
  spent: boolean;
  memoryCheckedAt: number;
  /** Whether it has served an app, which may keep state in memory. */
  serves: boolean;
}

/** How often a waiting caller checks for expired leases. */
const pollIntervalMs = 200;
/** How long a renewal may take before its holder is considered gone. */
const maxRenewalMs = 10_000;

/**
 * The sandboxes of this host. A process belongs to one agent and is never given to another: whatever code leaves behind
 * in a process, only code of the same agent can find it.
 *
 * Holders may vanish at any moment, so every lease expires.
 */
export class Slots {
  readonly #slots: Slot[];
  readonly #processes: ProcessManager;
  readonly #limits: WearLimits;
  /** Waiting callers, in order of arrival. */
  readonly #queue: { wake(): void }[] = [];
  #isMaintenanceScheduled = false;

  constructor(count: number, processes: ProcessManager, limits: WearLimits) {
    this.#processes = processes;
    this.#limits = limits;
    this.#slots = Array.from({ length: count }, (_, index) => ({
      index,
      generation: -1,
      agent: undefined,
      runs: 0,
      leases: new Set(),
      idleSince: 0,
      spent: false,
      serves: false,
      memoryCheckedAt: 0,
    }));
  }

  get waitingCount(): number {
    return this.#queue.length;
  }

  /** Returns each slot's current agent and the number of runs of its process. */
  status(): { agent?: string; runs: number }[] {
    return this.#slots.map(({ agent, runs, leases }) => ({
      runs,
      ...(agent !== undefined && leases.size > 0 ? { agent } : {}),
    }));
  }

  /** Leases a slot to an agent, ready for its code. */
  async lease(terms: LeaseTerms): Promise<Lease> {
    const lease = (this.#queue.length === 0 && this.#tryLease(terms)) || (await this.#wait(terms));
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
   */
  async forget(agent: string): Promise<void> {
    const slots = this.#slots.filter((slot) => slot.agent === agent);
    await Promise.all(
      slots.map((slot) => {
        const isBusy = slot.leases.size > 0;
        Object.assign(slot, { spent: true, agent: undefined });
        slot.leases.clear();
        return isBusy ? this.#replace(slot) : undefined;
      }),
    );
  }

  async #wait(terms: LeaseTerms): Promise<Lease> {
    const { signal, waitMs, onPlace } = terms;
    const giveUpAt = Date.now() + waitMs;
    const place = { wake: () => {} };
    this.#queue.push(place);
    const leave = () => place.wake();
    signal.addEventListener("abort", leave);
    let reported: number | undefined;
    try {
      for (;;) {
        signal.throwIfAborted();
        const before = this.#queue.indexOf(place);
        const lease = before === 0 ? this.#tryLease(terms) : undefined;
        if (lease) return lease;
        if (before !== reported) onPlace((reported = before));
        if (Date.now() > giveUpAt) throw fail("unavailable", `No sandbox was free for ${Math.round(waitMs / 1000)} s.`);
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
      this.#queue[0]?.wake();
    }
  }

  #tryLease({ agent, shared, maxMs }: LeaseTerms): Lease | undefined {
    this.#reclaim();
    const ownSlots = this.#slots.filter((slot) => slot.agent === agent && !slot.spent);
    const joinable = shared
      ? ownSlots.find(({ leases }) => leases.size > 0 && [...leases].every((lease) => lease.shared))
      : undefined;
    const idle = this.#slots.filter(({ leases }) => leases.size === 0);
    const slot =
      joinable ??
      idle.find((slot) => ownSlots.includes(slot)) ??
      idle.find((slot) => slot.agent === undefined) ??
      findLongestIdle(idle);
    if (!slot) return undefined;
    // Whatever another agent's code left behind is discarded with its process.
    if (slot.agent !== undefined && slot.agent !== agent) slot.spent = true;
    slot.agent = agent;
    return this.#createLease(slot, shared, maxMs);
  }

  #createLease(slot: Slot, shared: boolean, maxMs: number): Lease {
    const lease: Lease = new Lease({
      index: slot.index,
      shared,
      expiresAt: Date.now() + maxMs + maxRenewalMs,
      prepare: async () => {
        if (slot.spent || slot.generation < 0) await this.#renew(slot, slot.generation, false);
        // Requests of an app load no new code, so they do not wear out a process.
        if (!shared) slot.runs++;
        slot.serves ||= shared;
        return slot.generation;
      },
      release: (isSpent) => this.#release(slot, lease, isSpent),
      abandon: () => this.#abandon(slot, lease),
      lose: async (generation, isGone) => {
        slot.spent ||= slot.generation === generation;
        return this.#renew(slot, generation, isGone);
      },
    });
    slot.leases.add(lease);
    return lease;
  }

  async #renew(slot: Slot, generation: number, isGone: boolean): Promise<SlotRenewal["ended"]> {
    let renewal = await this.#processes.renew(slot.index, generation, isGone);
    // The process had ended unnoticed, and its successor may have been used since. It has to be replaced as well.
    if (!isGone && generation >= 0 && renewal.ended !== "asked")
      renewal = await this.#processes.renew(slot.index, renewal.generation, false);
    if (renewal.generation !== slot.generation)
      Object.assign(slot, { generation: renewal.generation, spent: false, runs: 0, serves: false });
    return renewal.ended;
  }

  #release(slot: Slot, lease: Lease, isSpent: boolean): void {
    if (!slot.leases.delete(lease)) return;
    slot.spent ||= isSpent;
    if (slot.leases.size > 0) return;
    slot.idleSince = Date.now();
    slot.spent ||= slot.runs >= this.#limits.runs;
    this.#queue[0]?.wake();
    this.#scheduleMaintenance();
  }

  /** Called when the holder is gone. Code that it may have left running is terminated. */
  #abandon(slot: Slot, lease: Lease): void {
    if (!slot.leases.delete(lease)) return;
    slot.spent = true;
    if (slot.leases.size === 0) void this.#replace(slot);
  }

  /** Maintains idle slots shortly after their last use. */
  #scheduleMaintenance(): void {
    const { restMs } = this.#limits;
    if (this.#isMaintenanceScheduled) return;
    this.#isMaintenanceScheduled = true;
    setTimeout(() => {
      this.#isMaintenanceScheduled = false;
      void this.#checkMemory();
      this.#refresh();
      if (this.#slots.some(({ leases, idleSince }) => leases.size === 0 && Date.now() < idleSince + restMs))
        this.#scheduleMaintenance();
    }, restMs);
  }

  /** Replaces processes in which code left much memory that is not freed while the process lives. */
  async #checkMemory(): Promise<void> {
    const unchecked = this.#slots.filter(
      ({ leases, memoryCheckedAt, idleSince }) => leases.size === 0 && idleSince > memoryCheckedAt,
    );
    for (const slot of unchecked) {
      const { generation } = slot;
      slot.memoryCheckedAt = Date.now();
      const bytes = await this.#processes.memory(slot.index).catch(() => undefined);
      if (bytes === undefined || bytes <= this.#limits.bytes || slot.generation !== generation) continue;
      slot.spent = true;
      if (slot.leases.size === 0) void this.#replace(slot);
    }
  }

  /** Keeps one unused process ready for the next agent, so that it need not wait. Only if there are several slots. */
  #refresh(): void {
    // Apps are left alone: their state in memory is worth more than a short wait of another agent.
    const rested = this.#slots.filter(
      ({ leases, serves, idleSince }) => leases.size === 0 && !serves && Date.now() >= idleSince + this.#limits.restMs,
    );
    const slot = findLongestIdle(rested);
    if (slot && this.#slots.length > 1 && this.#slots.every(({ agent }) => agent !== undefined))
      void this.#replace(slot);
  }

  async #replace(slot: Slot): Promise<void> {
    // It counts as unused from now on, so that no second one is prepared.
    Object.assign(slot, { spent: true, agent: undefined });
    const lease = this.#createLease(slot, false, 0);
    // If this fails, the next lease of the slot tries again and reports the error.
    await this.#renew(slot, slot.generation, false).catch(() => {});
    lease.release();
  }

  /** Reclaims expired leases, for example of an agent that was deleted during a run. */
  #reclaim(): void {
    for (const slot of this.#slots) {
      for (const lease of slot.leases) {
        if (Date.now() < lease.expiresAt) continue;
        slot.leases.delete(lease);
        slot.spent = true;
      }
    }
  }
}

function findLongestIdle(slots: readonly Slot[]): Slot | undefined {
  return slots.reduce<Slot | undefined>(
    (first, slot) => (first && first.idleSince <= slot.idleSince ? first : slot),
    undefined,
  );
}
