import type { AgentStore } from "../../store/agent-store.ts";
import { measureElapsed } from "../../turn/budget/turn-budget.ts";

/** Measures how long a sub-agent has worked. It stands still while the work waits for a person or the host is down. */
export class AssignmentClock {
  readonly #store: AgentStore;
  /** Longer gaps between two calls mean that the host was down. */
  readonly #maxGapMs: number;
  /** After a wake, the log knows how long the turn ran. */
  #elapsedMs: number | undefined;
  #runningSince: number | undefined;

  constructor(store: AgentStore, maxGapMs: number) {
    this.#store = store;
    this.#maxGapMs = maxGapMs;
  }

  /** Returns the time until now. Call it often while the work goes on. */
  measure(runId: string, now: number): number {
    this.#elapsedMs ??= measureElapsed(this.#store, runId);
    if (this.#runningSince !== undefined) this.#elapsedMs += Math.min(now - this.#runningSince, this.#maxGapMs);
    this.#runningSince = now;
    return this.#elapsedMs;
  }

  /** Stands still until it is measured again. */
  stop(runId: string, now: number): void {
    if (this.#runningSince !== undefined) this.measure(runId, now);
    this.#runningSince = undefined;
  }
}
