interface HeartbeatOptions {
  seconds: number;
  /** Has `beat` come back after so many seconds, even if this memory is lost meanwhile. */
  schedule(seconds: number, beat: number): Promise<unknown>;
}

/**
 * The beats of an agent that is at work: whoever hears one takes up what a crash left open. They are numbered, because
 * the SDK would take the beat that is just being run for the next one.
 */
export class Heartbeat {
  readonly #options: HeartbeatOptions;
  /** The beat that is due next, while there are any. */
  #next: number | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  begin(): void {
    if (this.#next !== undefined) return;
    this.#next = 0;
    void this.arm();
  }

  /** Answers whether this beat is to be heard: a second chain of them, begun after a crash, ends here. */
  take(beat: number): boolean {
    if (this.#next !== undefined && this.#next !== beat) return false;
    this.#next = beat + 1;
    return true;
  }

  /** After the first, agents that began together beat apart. */
  async arm(): Promise<void> {
    const { seconds, schedule } = this.#options;
    const beat = this.#next ?? 0;
    await schedule(seconds + (beat > 0 ? Math.floor(Math.random() * (seconds + 1)) : 0), beat);
  }

  stop(): void {
    this.#next = undefined;
  }
}
