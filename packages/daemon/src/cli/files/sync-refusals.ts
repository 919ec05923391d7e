interface Refusal {
  /** What both sides had, and why nothing could be done about it. */
  sides: string;
  why: string;
  at: number;
}

/** A disk that is full, and a folder that may not be written to, may be seen to; a file that cannot be sent may be mended. */
const usualHoldMs = 30_000;

/** What could not be done. It is tried again when one side has changed, and now and then. */
export class Refusals {
  readonly #holdMs: number;
  readonly #all = new Map<string, Refusal>();

  constructor(holdMs = usualHoldMs) {
    this.#holdMs = holdMs;
  }

  /** Is it too early to try again? */
  holds(path: string, sides: string): boolean {
    const refusal = this.#all.get(path);
    return refusal?.sides === sides && Date.now() - refusal.at < this.#holdMs;
  }

  /** True where it was not known for the same reason. */
  add(path: string, sides: string, why: string): boolean {
    const known = this.#all.get(path);
    this.#all.set(path, { sides, why, at: Date.now() });
    return known?.sides !== sides || known.why !== why;
  }

  settle(path: string): void {
    this.#all.delete(path);
  }
}
