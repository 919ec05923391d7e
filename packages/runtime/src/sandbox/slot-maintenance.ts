import { findLongestIdle, type Slot } from "./slot.ts";

export interface ProcessInfo {
  generation?: number | undefined;
  memoryBytes?: number | undefined;
}

interface SlotMaintenanceOptions {
  slots: readonly Slot[];
  limits: {
    bytes: number;
    /** How long an idle agent keeps its process before it may be replaced. */
    restMs: number;
    /** How often the memory of a busy process is checked. */
    memoryCheckMs: number;
  };
  inspect(): Promise<readonly ProcessInfo[]>;
  retire(slot: Slot): void;
  replace(slot: Slot): Promise<void>;
}

/** Replaces worn processes while nobody waits for them. */
export class SlotMaintenance {
  readonly #options: SlotMaintenanceOptions;
  #isScheduled = false;

  constructor(options: SlotMaintenanceOptions) {
    this.#options = options;
  }

  /** Called when a slot is leased or returned. */
  schedule(): void {
    const { slots, limits } = this.#options;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setTimeout(() => {
      this.#isScheduled = false;
      void this.#checkMemory();
      this.#refresh();
      if (slots.some((slot) => slot.isShared || (slot.isIdle && Date.now() < slot.idleSince + limits.restMs)))
        this.schedule();
    }, limits.restMs);
  }

  /** Retires processes in which code left much memory that is not freed while the process lives. */
  async #checkMemory(): Promise<void> {
    const { slots, limits, inspect, retire } = this.#options;
    const now = Date.now();
    const due = slots
      .filter((slot) =>
        slot.isIdle
          ? slot.idleSince > slot.memoryCheckedAt
          : slot.isShared && now >= Math.max(slot.memoryCheckedAt, slot.busySince) + limits.memoryCheckMs,
      )
      .map((slot) => ({ slot, generation: slot.generation }));
    if (due.length === 0) return;
    for (const { slot } of due) slot.memoryCheckedAt = now;
    const processes = await inspect().catch(() => []);
    for (const { slot, generation } of due) {
      const { memoryBytes = 0 } = processes[slot.index] ?? {};
      if (memoryBytes > limits.bytes && slot.generation === generation) retire(slot);
    }
  }

  /** Keeps one unused process ready for the next agent, so that it need not wait. Only if there are several slots. */
  #refresh(): void {
    const { slots, limits, replace } = this.#options;
    // Apps and user agents are left alone: their state in memory is worth more than a short wait of another agent.
    const rested = slots.filter((slot) => slot.isIdle && !slot.serves && Date.now() >= slot.idleSince + limits.restMs);
    const slot = findLongestIdle(rested);
    if (slot && slots.length > 1 && slots.every(({ tenant }) => tenant !== undefined)) void replace(slot);
  }
}
