interface SyncFailure {
  /** What both sides had, and why nothing could be done about it. */
  sides: string;
  why: string;
  at: number;
}

/** A disk that is full, and a folder that may not be written to, may be seen to; a file that cannot be sent may be mended. */
const defaultHoldMs = 30_000;

/** What could not be done. It is tried again when one side has changed, and now and then. */
export class SyncFailures {
  readonly #holdMs: number;
  readonly #failures = new Map<string, SyncFailure>();

  constructor(holdMs = defaultHoldMs) {
    this.#holdMs = holdMs;
  }

  /** Is it too early to try again? */
  isHeld(path: string, sides: string): boolean {
    const refusal = this.#failures.get(path);
    return refusal?.sides === sides && Date.now() - refusal.at < this.#holdMs;
  }

  /** True where it was not known for the same reason. */
  add(path: string, sides: string, why: string): boolean {
    const known = this.#failures.get(path);
    this.#failures.set(path, { sides, why, at: Date.now() });
    return known?.sides !== sides || known.why !== why;
  }

  clear(path: string): void {
    this.#failures.delete(path);
  }
}
