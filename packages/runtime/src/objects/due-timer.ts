import type { AgentFeature } from "./feature.ts";

type DueFeature = Pick<AgentFeature, "nextDueAt" | "runDue">;

interface DueTimerOptions {
  features(): readonly DueFeature[];
  /** Schedules a check at a time, even if memory is lost in the meantime. The same time twice is one check. */
  schedule(at: number): Promise<unknown>;
}

const retryMs = 5000;

/**
 * Wakes the object when one of its features has something to do. What is due is in the features' own tables; the timer
 * only has to fire at that time or later. A check that is no longer needed does nothing.
 */
export class DueTimer {
  readonly #options: DueTimerOptions;
  /** The next check, as far as known: after a wake it may already be scheduled. */
  #armedAt: number | undefined;
  /** When features that failed are tried again. */
  readonly #retries = new Map<DueFeature, number>();
  /** The SDK takes the check that is running for the next one if both have the same time. */
  #lastCheck = 0;
  #isHalted = false;

  constructor(options: DueTimerOptions) {
    this.#options = options;
  }

  /**
   * Schedules a check for what is due next. Call it whenever that may be earlier than before, and after a wake. With a
   * time, for something that is about to be stored: a crash in between must not leave that without a check.
   */
  async update(time = Infinity): Promise<void> {
    const dueAt = Math.min(this.#findNextDue() ?? Infinity, time);
    if (dueAt === Infinity || this.#isHalted) return;
    const at = Math.max(roundUpToSecond(Math.max(dueAt, Date.now())), this.#lastCheck + 1000);
    if (this.#armedAt !== undefined && this.#armedAt <= at) return;
    this.#armedAt = at;
    try {
      await this.#options.schedule(at);
    } catch (error) {
      if (this.#armedAt === at) this.#armedAt = undefined;
      throw error;
    }
  }

  /** Called by the schedule. Runs what is due, then schedules the next check. Never throws. */
  async check(scheduledAt: number): Promise<void> {
    this.#lastCheck = Math.max(this.#lastCheck, scheduledAt);
    if (this.#armedAt !== undefined && this.#armedAt <= scheduledAt) this.#armedAt = undefined;
    for (const feature of this.#options.features()) await this.#run(feature);
    await this.update().catch((error: unknown) => this.#retryUpdate(error));
  }

  halt(): void {
    this.#isHalted = true;
  }

  async #run(feature: DueFeature): Promise<void> {
    const now = Date.now();
    const dueAt = this.#getDue(feature);
    if (this.#isHalted || dueAt === undefined || dueAt > now) return;
    this.#retries.delete(feature);
    try {
      await feature.runDue?.(now);
    } catch (error) {
      console.error("what was due could not be done", error);
      this.#retries.set(feature, Date.now() + retryMs);
    }
  }

  #findNextDue(): number | undefined {
    const times = this.#options.features().flatMap((feature) => this.#getDue(feature) ?? []);
    return times.length > 0 ? Math.min(...times) : undefined;
  }

  #getDue(feature: DueFeature): number | undefined {
    const retryAt = this.#retries.get(feature);
    try {
      const dueAt = feature.nextDueAt?.();
      return dueAt === undefined || retryAt === undefined ? dueAt : Math.max(dueAt, retryAt);
    } catch (error) {
      console.error("what is due next could not be read", error);
      return Date.now() + retryMs;
    }
  }

  #retryUpdate(error: unknown): void {
    console.error("the next check of what is due could not be scheduled", error);
    setTimeout(() => void this.update().catch((next: unknown) => this.#retryUpdate(next)), retryMs);
  }
}

/** The SDK counts in seconds and rounds down: a check must not be too early. */
function roundUpToSecond(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}
