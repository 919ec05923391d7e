/** Lets so many go at a time, the others in the order in which they came. A call under way is much dearer than one that waits. */
export class Queue {
  readonly #most: number;
  readonly #waiting: (() => void)[] = [];
  #going = 0;

  constructor(most: number) {
    this.#most = most;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#going >= this.#most) await new Promise<void>((go) => this.#waiting.push(go));
    else this.#going++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#going--;
    }
  }
}
