interface HeartbeatOptions {
  seconds: number;
  /** Schedules `beat`, even if memory is lost in the meantime. */
  schedule(seconds: number, beat: number): Promise<unknown>;
}

/**
 * Periodic wake-ups of a working agent, which resume what a crash interrupted. Beats are numbered, because the SDK
 * would otherwise mistake the beat that is currently running for the next one.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  /** The next beat, while the heartbeat is running. */
  #next: number | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#next !== undefined;
  }

  /** Resolves once the next beat takes place even if memory is lost. */
  async begin(): Promise<void> {
    if (this.#next !== undefined) return;
    this.#next = 0;
    await this.arm().catch((error: unknown) => {
      console.error("the heartbeat could not be scheduled", error);
      this.#next = undefined;
    });
  }

  /** Returns whether to handle this beat. Ends a second chain of beats, started after a crash. */
  take(beat: number): boolean {
    if (this.#next !== undefined && this.#next !== beat) return false;
    this.#next = beat + 1;
    return true;
  }

  /** Adds jitter after the first beat, so that agents that started together do not beat together. */
  async arm(): Promise<void> {
    const { seconds, schedule } = this.#options;
    const beat = this.#next ?? 0;
    await schedule(seconds + (beat > 0 ? Math.floor(Math.random() * (seconds + 1)) : 0), beat);
  }

  stop(): void {
    this.#next = undefined;
  }
}
