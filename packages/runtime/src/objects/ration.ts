/** So much at once, and so much more every second. */
export class Ration {
  readonly #most: number;
  readonly #perSecond: number;
  #left: number;
  #at = Date.now();

  constructor(most: number, perSecond: number) {
    this.#most = most;
    this.#perSecond = perSecond;
    this.#left = most;
  }

  /** What is larger than all there can be is let through when nothing was taken before it. */
  take(amount: number): boolean {
    const now = Date.now();
    this.#left = Math.min(this.#most, this.#left + ((now - this.#at) / 1000) * this.#perSecond);
    this.#at = now;
    if (amount > this.#left && this.#left < this.#most) return false;
    this.#left -= amount;
    return true;
  }
}
