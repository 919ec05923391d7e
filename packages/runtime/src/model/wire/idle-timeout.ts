/** How long we wait for the next byte, and how a call is stopped: by the caller, or by a silence that is too long. */
export class IdleTimeout {
  readonly controller = new AbortController();
  /** Set when it was the silence that stopped the call. */
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
   * Only waiting for the provider counts; while our own side is busy, its silence is ours. Two calls around an await
   * and not one with a promise of its own: that would be paid for with every chunk.
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

  /** One timer for a whole call, set anew when it fires: a timer for every chunk would cost more than the chunk. */
  private arm(ms: number): void {
    this.timer = setTimeout(() => {
      const silence = this.isWaiting ? Date.now() - this.since : 0;
      if (silence < this.idleMs) return this.arm(this.idleMs - silence);
      this.hasExpired = true;
      this.controller.abort(new Error("silence"));
    }, ms);
  }
}
