import { runFairly, type Work } from "../host/fair-work.ts";

/** Longer holds let others pass: what is computed meanwhile starts again, or gives up. */
const maxWaitMs = 10_000;

interface WriteGateOptions {
  /** Changes with every change to the files. */
  getRevision(): number;
  /** Returns the user whose files these are. */
  getOwner?(): string;
}

/** Keeps others from changing files while something long is computed from them. */
export class WriteGate {
  readonly #options: WriteGateOptions;
  readonly #holds = new Set<Promise<void>>();

  constructor(options: WriteGateOptions) {
    this.#options = options;
  }

  /** The user whose files these are, if that is known. */
  get owner(): string | undefined {
    return this.#options.getOwner?.();
  }

  /**
   * Does work that may take long in slices, and serves others in between. It starts again if files change meanwhile, so
   * it sees the files of one moment. If that happens repeatedly, others have to wait before they change files.
   */
  async runFairly<T>(start: () => Work<T>): Promise<T> {
    await this.pass();
    return runFairly(start, {
      owner: this.owner,
      getRevision: () => this.#options.getRevision(),
      hold: () => this.#hold(),
    });
  }

  /** To be awaited before files are changed, unless that cannot wait. Waits for a limited time. */
  async pass(): Promise<void> {
    if (this.#holds.size === 0) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<void>((resolve) => (timer = setTimeout(resolve, maxWaitMs)));
    await Promise.race([Promise.all(this.#holds), timeout]);
    clearTimeout(timer);
  }

  #hold(): () => void {
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    this.#holds.add(held);
    return () => {
      this.#holds.delete(held);
      release();
    };
  }
}
