const minPauseMs = 250;
const maxPauseMs = 8_000;

/** The pauses between tries to reach a host: longer and longer, and never the same for everybody. */
export class Backoff {
  private pauseMs = minPauseMs;

  next(): number {
    const now = this.pauseMs * (0.5 + Math.random() / 2);
    this.pauseMs = Math.min(this.pauseMs * 2, maxPauseMs);
    return now;
  }

  /** The host was reached. */
  reset(): void {
    this.pauseMs = minPauseMs;
  }
}
