import type { SlotRenewal } from "@thinkery/sdk/internal";

interface LeaseOptions {
  index: number;
  shared: boolean;
  isolate: string | undefined;
  expiresAt: number;
  prepare(): Promise<number>;
  release(isSpent: boolean): void;
  abandon(): void;
  lose(isGone: boolean): Promise<SlotRenewal["ended"]>;
}

/** The temporary right of one agent to use one slot. */
export class Lease {
  readonly shared: boolean;
  /** The isolate that it loads and leaves loaded, if any. */
  readonly isolate: string | undefined;
  readonly expiresAt: number;
  /** The slot's index. */
  readonly index: number;
  readonly #options: LeaseOptions;
  #generation = -1;
  #isLosing = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
    this.shared = options.shared;
    this.isolate = options.isolate;
    this.expiresAt = options.expiresAt;
    this.index = options.index;
  }

  /** The process that it was granted; -1 until it is prepared. */
  get generation(): number {
    return this.#generation;
  }

  /** Resolves when the slot has a process that no other agent has used. */
  async prepare(): Promise<void> {
    this.#generation = await this.#options.prepare();
  }

  /** Returns the slot. A spent process, such as one without memory for another run, is replaced before its next use. */
  release(isSpent = false): void {
    this.#options.release(isSpent);
  }

  /** Returns the slot because its process is gone or must be replaced. Resolves with how the process ended. */
  async lose(isGone: boolean): Promise<SlotRenewal["ended"]> {
    this.#isLosing = true;
    try {
      return await this.#options.lose(isGone);
    } finally {
      this.release();
    }
  }

  /** Called when the holder disappears without releasing. Does nothing if the slot was already returned. */
  abandon(): void {
    if (!this.#isLosing) this.#options.abandon();
  }
}
