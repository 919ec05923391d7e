const first = 250;
const maxPauseMs = 8_000;

/** The pauses between tries to reach a host: longer and longer, and never the same for everybody. */
export class Pauses {
  private pause = first;

  next(): number {
    const now = this.pause * (0.5 + Math.random() / 2);
    this.pause = Math.min(this.pause * 2, maxPauseMs);
    return now;
  }

  /** The host was reached. */
  reset(): void {
    this.pause = first;
  }
}
