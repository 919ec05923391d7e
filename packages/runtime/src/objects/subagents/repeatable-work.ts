/** Work that can be requested at any time. If that happens while it runs, it runs once more. */
export class RepeatableWork {
  readonly #work: () => Promise<void>;
  #running: Promise<void> | undefined;
  #isRequested = false;
  #isHalted = false;

  constructor(work: () => Promise<void>) {
    this.#work = work;
  }

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  get isHalted(): boolean {
    return this.#isHalted;
  }

  /** Resolves when the work has run after this call, or was halted. */
  run(): Promise<void> {
    this.#isRequested = true;
    this.#running ??= this.#runWhileRequested();
    return this.#running;
  }

  /** Lets the current run end, and starts no other. */
  halt(): void {
    this.#isHalted = true;
  }

  async #runWhileRequested(): Promise<void> {
    // Always asynchronous, so that it ends after the promise was stored.
    await undefined;
    try {
      while (this.#isRequested && !this.#isHalted) {
        this.#isRequested = false;
        await this.#work();
      }
    } finally {
      this.#running = undefined;
    }
  }
}
