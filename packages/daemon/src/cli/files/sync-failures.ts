interface SyncFailure {
  /** The hashes of both sides when it failed. */
  sides: string;
  reason: string;
  at: number;
}

/** Failures are retried because the user may fix the cause, such as a full disk or missing permissions. */
const defaultRetryDelayMs = 30_000;

/** Files that could not be synced. They are retried when one side changes, and after a delay. */
export class SyncFailures {
  readonly #retryDelayMs: number;
  readonly #failures = new Map<string, SyncFailure>();

  constructor(retryDelayMs = defaultRetryDelayMs) {
    this.#retryDelayMs = retryDelayMs;
  }

  /** Returns whether it is too early to retry. */
  isDelayed(path: string, sides: string): boolean {
    const failure = this.#failures.get(path);
    return failure?.sides === sides && Date.now() - failure.at < this.#retryDelayMs;
  }

  /** Returns whether this failure is new. */
  add(path: string, sides: string, reason: string): boolean {
    const known = this.#failures.get(path);
    this.#failures.set(path, { sides, reason, at: Date.now() });
    return known?.sides !== sides || known.reason !== reason;
  }

  clear(path: string): void {
    this.#failures.delete(path);
  }
}
