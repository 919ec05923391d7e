/** So much at once, and so much more every second. */
export class RateLimiter {
  readonly #max: number;
  readonly #perSecond: number;
  #available: number;
  #updatedAt = Date.now();

  constructor(most: number, perSecond: number) {
    this.#max = most;
    this.#perSecond = perSecond;
    this.#available = most;
  }

  /** What is larger than all there can be is let through when nothing was taken before it. */
  take(amount: number): boolean {
    const now = Date.now();
    this.#available = Math.min(this.#max, this.#available + ((now - this.#updatedAt) / 1000) * this.#perSecond);
    this.#updatedAt = now;
    if (amount > this.#available && this.#available < this.#max) return false;
    this.#available -= amount;
    return true;
  }
}
