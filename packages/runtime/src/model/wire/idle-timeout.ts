/** Aborts a call if the caller aborts it or the provider sends nothing for too long. */
export class IdleTimeout {
  readonly controller = new AbortController();
  /** Whether the timeout aborted the call. */
  hasExpired = false;
  private since = Date.now();
  private isWaiting = true;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly forwardAbort = () => this.controller.abort(this.signal.reason);

  constructor(
    private readonly idleMs: number,
    private readonly signal: AbortSignal,
  ) {
    if (signal.aborted) this.forwardAbort();
    else signal.addEventListener("abort", this.forwardAbort, { once: true });
    this.arm(idleMs);
  }

  /**
   * Only time spent waiting for the provider counts, not time our side is busy. Two calls around an await instead of
   * one that wraps a promise, whose cost would be paid for every chunk.
   */
  begin(): void {
    this.since = Date.now();
    this.isWaiting = true;
  }

  pause(): void {
    this.isWaiting = false;
  }

  end(): void {
    clearTimeout(this.timer);
    this.signal.removeEventListener("abort", this.forwardAbort);
  }

  /** One timer per call, re-armed when it fires: a timer per chunk would cost more than the chunk. */
  private arm(ms: number): void {
    this.timer = setTimeout(() => {
      const idleMs = this.isWaiting ? Date.now() - this.since : 0;
      if (idleMs < this.idleMs) return this.arm(this.idleMs - idleMs);
      this.hasExpired = true;
      this.controller.abort(new Error("idle timeout"));
    }, ms);
  }
}
