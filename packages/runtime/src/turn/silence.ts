import type { Failure } from "@thinkery/sdk";
import type { TurnLimits } from "@thinkery/sdk/internal";

/** How long nothing has come of a turn. One that is silent for its whole window is ended. */
export class Silence {
  readonly #limits: TurnLimits;
  #ms = 0;
  #lastBeat = Date.now();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Something came of it. */
  end(): void {
    this.#ms = 0;
  }

  /** Every now and then. Answers why the turn has to end. */
  beat(now: number): Failure | undefined {
    const { noProgressSeconds } = this.#limits;
    this.#ms += Math.min(now - this.#lastBeat, longestGap(this.#limits));
    this.#lastBeat = now;
    if (this.#ms <= noProgressSeconds * 1000) return undefined;
    const message = `Neither the model nor a tool gave a sign of life for ${noProgressSeconds} s.`;
    return { code: "no_progress", message, advice: "Send the message again." };
  }
}

/** A machine that slept is no silent turn, and takes none of its time: a gap counts for a few beats at most. In ms. */
export function longestGap({ heartbeatSeconds }: TurnLimits): number {
  return heartbeatSeconds * 3000;
}
