import type { Failure } from "@thinkery/sdk";
import type { TurnLimits } from "@thinkery/sdk/internal";
import { getMaxGapMs } from "../limits.ts";

/** Detects a turn that makes no progress: neither its model nor a tool gives a sign of life for its whole window. */
export class StallDetector {
  readonly #limits: TurnLimits;
  #ms = 0;
  #lastBeat = Date.now();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Called for every sign of life. */
  reset(): void {
    this.#ms = 0;
  }

  /** Called every now and then. Returns why the turn has to end, if it does. */
  check(now: number): Failure | undefined {
    const { noProgressSeconds } = this.#limits;
    this.#ms += Math.min(now - this.#lastBeat, getMaxGapMs(this.#limits));
    this.#lastBeat = now;
    if (this.#ms <= noProgressSeconds * 1000) return undefined;
    const message = `Neither the model nor a tool gave a sign of life for ${noProgressSeconds} s.`;
    return { code: "no_progress", message, advice: "Send the message again." };
  }
}
