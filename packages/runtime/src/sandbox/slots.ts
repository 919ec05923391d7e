import { fail } from "@thinkery/sdk";
import type { SlotRenewal } from "@thinkery/sdk/internal";
import { Lease } from "./lease.ts";

/** What the daemon does for us. */
export interface ProcessManager {
  /** Puts another process in a slot; comes back when that is ready for code. */
  renew(index: number, generation: number, lost: boolean): Promise<SlotRenewal>;
  /** How much memory a slot's process has now, in bytes. */
  memory(index: number): Promise<number | undefined>;
}

/** What wears a process out. */
export interface WearLimits {
  runs: number;
  bytes: number;
  /** An agent that runs code again and again keeps its process in between; after so long, it may do without. */
  restMs: number;
}

export interface LeaseTerms {
  agent: string;
  /** May other leases of this agent that say the same be in the slot at the same time? */
  shared: boolean;
  /** Whoever has not given it back by then is gone. */
  maxMs: number;
  waitMs: number;
  /** Leaves the line at once. */
  signal: AbortSignal;
  /** How many go first, whenever that changes. */
  onPlace(before: number): void;
}

interface Slot {
  readonly index: number;
  /** Which of its processes was last known to be ready. */
  generation: number;
  /** Whose code that process has run; nobody's yet. */
  agent: string | undefined;
  runs: number;
  /** Who has it now: one run, or requests of one app side by side. */
  readonly leases: Set<Lease>;
  /** When it was last given back. */
  idleSince: number;
  /** Is its process to be replaced before anybody gets it? */
  spent: boolean;
  weighedAt: number;
  /** Has an app been served there, which may remember something? */
  serves: boolean;
}

/** How often somebody who waits looks whether a lease has run out. */
const pollIntervalMs = 200;
/** What a renewal may take, before whoever asked for it is taken for gone. */
const maxRenewalMs = 10_000;

/**
 * The sandboxes of this host. A process belongs to one agent, and to no other one after it: whatever code leaves behind
 * in a process, only code of the same agent can find it.
 *
 * Holders may vanish at any moment, so what they hold is theirs until a time at most.
 */
export class Slots {
  readonly #slots: Slot[];
  readonly #processes: ProcessManager;
  readonly #limits: WearLimits;
  /** In the order in which they came. */
  readonly #queue: { wake(): void }[] = [];
  #isMaintenanceScheduled = false;

  constructor(count: number, keeper: ProcessManager, most: WearLimits) {
    this.#processes = keeper;
    this.#limits = most;
    this.#slots = Array.from({ length: count }, (_, index) => ({
      index,
      generation: -1,
      agent: undefined,
      runs: 0,
      leases: new Set(),
      idleSince: 0,
      spent: false,
      serves: false,
      weighedAt: 0,
    }));
  }

  get waitingCount(): number {
    return this.#queue.length;
  }

  /** Whose code is in which slot, and how much its process has run. */
  status(): { agent?: string; runs: number }[] {
    return this.#slots.map(({ agent, runs, leases }) => ({
      runs,
      ...(agent !== undefined && leases.size > 0 ? { agent } : {}),
    }));
  }

  /** A slot for this agent, ready for its code. */
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
   * This agent is no more. What its code does ends now: whoever waited for it may be gone before they can see to that.
   * And another agent of its name must not find what it left.
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
    let told: number | undefined;
    try {
      for (;;) {
        signal.throwIfAborted();
        const before = this.#queue.indexOf(place);
        const lease = before === 0 ? this.#tryLease(terms) : undefined;
        if (lease) return lease;
        if (before !== told) onPlace((told = before));
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
    const mine = this.#slots.filter((slot) => slot.agent === agent && !slot.spent);
    const together = shared
      ? mine.find(({ leases }) => leases.size > 0 && [...leases].every((lease) => lease.shared))
      : undefined;
    const idle = this.#slots.filter(({ leases }) => leases.size === 0);
    const slot =
      together ??
      idle.find((slot) => mine.includes(slot)) ??
      idle.find((slot) => slot.agent === undefined) ??
      findLongestIdle(idle);
    if (!slot) return undefined;
    // Whatever another agent's code left there goes with its process.
    if (slot.agent !== undefined && slot.agent !== agent) slot.spent = true;
    slot.agent = agent;
    return this.#createLease(slot, shared, maxMs);
  }

  #createLease(slot: Slot, shared: boolean, mostMs: number): Lease {
    const lease: Lease = new Lease({
      index: slot.index,
      shared,
      expiresAt: Date.now() + mostMs + maxRenewalMs,
      prepare: async () => {
        if (slot.spent || slot.generation < 0) await this.#renew(slot, slot.generation, false);
        // Requests of an app load nothing anew, so they do not wear a process out.
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
    // It had ended by itself without our noticing, and we may have used what came after it. That has to go as well.
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

  /** Its holder is gone and may have left code running, which ends now. */
  #abandon(slot: Slot, lease: Lease): void {
    if (!slot.leases.delete(lease)) return;
    slot.spent = true;
    if (slot.leases.size === 0) void this.#replace(slot);
  }

  /** Looks after the slots that stand idle, a moment after each was last used. */
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

  /** Code may have left much memory behind that is not given back while its process lives. */
  async #checkMemory(): Promise<void> {
    const weighed = this.#slots.filter(
      ({ leases, weighedAt, idleSince }) => leases.size === 0 && idleSince > weighedAt,
    );
    for (const slot of weighed) {
      const { generation } = slot;
      slot.weighedAt = Date.now();
      const bytes = await this.#processes.memory(slot.index).catch(() => undefined);
      if (bytes === undefined || bytes <= this.#limits.bytes || slot.generation !== generation) continue;
      slot.spent = true;
      if (slot.leases.size === 0) void this.#replace(slot);
    }
  }

  /** Has a process ready for whoever comes next, so that they need not wait for it; of several slots, not of the only one. */
  #refresh(): void {
    // Apps are left alone: what they have in memory is worth more than the moment that somebody else may have to wait.
    const rested = this.#slots.filter(
      ({ leases, serves, idleSince }) => leases.size === 0 && !serves && Date.now() >= idleSince + this.#limits.restMs,
    );
    const slot = findLongestIdle(rested);
    if (slot && this.#slots.length > 1 && this.#slots.every(({ agent }) => agent !== undefined))
      void this.#replace(slot);
  }

  async #replace(slot: Slot): Promise<void> {
    // From now on it is one that nobody has used, so that not another is made ready too.
    Object.assign(slot, { spent: true, agent: undefined });
    const lease = this.#createLease(slot, false, 0);
    // Where it fails, whoever needs the slot asks again, and hears why it cannot be had.
    await this.#renew(slot, slot.generation, false).catch(() => {});
    lease.release();
  }

  /** Takes back what its holder must have forgotten: an agent that was deleted in the middle of a run, say. */
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
