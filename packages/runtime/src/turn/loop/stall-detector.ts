import type { Failure } from "@thinkery/sdk";
import type { TurnLimits } from "@thinkery/sdk/internal";
import { getMaxGapMs } from "../limits.ts";

/** Detects a stalled turn: neither its model nor a tool has shown activity for `noProgressSeconds`. */
export class StallDetector {
  readonly #limits: TurnLimits;
  #idleMs = 0;
  #lastCheckAt = Date.now();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Called on any activity. */
  reset(): void {
    this.#idleMs = 0;
  }

  /** Called periodically. Returns why the turn must end if it has stalled. */
  check(now: number): Failure | undefined {
    const { noProgressSeconds } = this.#limits;
    this.#idleMs += Math.min(now - this.#lastCheckAt, getMaxGapMs(this.#limits));
    this.#lastCheckAt = now;
    if (this.#idleMs <= noProgressSeconds * 1000) return undefined;
    const message = `No activity from the model or a tool for ${noProgressSeconds} s.`;
    return { code: "no_progress", message, advice: "Send the message again to retry." };
  }
}
