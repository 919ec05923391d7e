const minDelayMs = 250;
const maxDelayMs = 8_000;

/** Delays between attempts to reach a host: exponential, with jitter. */
export class Backoff {
  private delayMs = minDelayMs;

  next(): number {
    const delayMs = this.delayMs * (0.5 + Math.random() / 2);
    this.delayMs = Math.min(this.delayMs * 2, maxDelayMs);
    return delayMs;
  }

  /** Call it when the host was reached. */
  reset(): void {
    this.delayMs = minDelayMs;
  }
}
