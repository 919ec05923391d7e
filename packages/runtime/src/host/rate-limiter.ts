/** A token bucket. */
export class RateLimiter {
  readonly #max: number;
  readonly #perSecond: number;
  #available: number;
  #updatedAt = Date.now();

  constructor(max: number, perSecond: number) {
    this.#max = max;
    this.#perSecond = perSecond;
    this.#available = max;
  }

  /** Returns whether the amount is allowed. An amount larger than the bucket passes if the bucket is full. */
  take(amount: number): boolean {
    const now = Date.now();
    this.#available = Math.min(this.#max, this.#available + ((now - this.#updatedAt) / 1000) * this.#perSecond);
    this.#updatedAt = now;
    if (amount > this.#available && this.#available < this.#max) return false;
    this.#available -= amount;
    return true;
  }
}
