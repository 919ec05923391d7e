import type { SlotRenewal } from "@thinkery/sdk/internal";

interface LeaseOptions {
  index: number;
  shared: boolean;
  expiresAt: number;
  prepare(): Promise<number>;
  release(isSpent: boolean): void;
  abandon(): void;
  lose(generation: number, isGone: boolean): Promise<SlotRenewal["ended"]>;
}

/** The right of one agent to one slot, for a while. */
export class Lease {
  readonly shared: boolean;
  readonly expiresAt: number;
  /** Which slot it is. */
  readonly index: number;
  readonly #options: LeaseOptions;
  #generation = -1;
  #isLosing = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.shared = options.shared;
    this.expiresAt = options.expiresAt;
    this.index = options.index;
  }

  /** Comes back when the slot's process is one that no other agent has used. */
  async prepare(): Promise<void> {
    this.#generation = await this.#options.prepare();
  }

  /** Gives it back; a process that has no memory left for the next run is replaced first. */
  release(isSpent = false): void {
    this.#options.release(isSpent);
  }

  /** Gives it back because its process is gone, or has to go. Answers how that process ended. */
  async lose(isGone: boolean): Promise<SlotRenewal["ended"]> {
    this.#isLosing = true;
    try {
      return await this.#options.lose(this.#generation, isGone);
    } finally {
      this.release();
    }
  }

  /** Its holder is gone without giving it back. Does nothing if it was given back. */
  abandon(): void {
    if (!this.#isLosing) this.#options.abandon();
  }
}
