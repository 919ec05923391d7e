/** Limits concurrency; further work waits in order. A call in progress is much more expensive than a waiting one. */
export class Queue {
  readonly #maxConcurrent: number;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(maxConcurrent: number) {
    this.#maxConcurrent = maxConcurrent;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= this.#maxConcurrent) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#running++;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#running--;
    }
  }
}
