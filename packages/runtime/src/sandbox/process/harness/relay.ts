import type { RunHost } from "../../run.ts";
import { Written } from "./written.ts";

const { setTimeout: nativeTimeout } = globalThis;

const everyMs = 100;
/** Of what comes faster than this, the beginning and the end of each time are told. */
const maxPieceChars = 16 * 1024;

/**
 * Tells main what is written while the run goes on, never twice at a time. A run that is over sooner has told nothing
 * this way: all of it is in its outcome.
 */
export class Relay {
  readonly #host: RunHost;
  #waiting: Written | undefined;
  #isBusy = false;

  constructor(host: RunHost) {
    this.#host = host;
  }

  add(text: string): void {
    this.#waiting ??= new Written(maxPieceChars);
    this.#waiting.add(text);
    if (this.#isBusy) return;
    this.#isBusy = true;
    nativeTimeout(() => this.#tell(), everyMs);
  }

  async #tell(): Promise<void> {
    const text = this.#waiting?.text ?? "";
    this.#waiting = undefined;
    // Main may be gone, or tired of it; the code goes on.
    await this.#host.heard(text).catch(() => {});
    if (this.#waiting) nativeTimeout(() => this.#tell(), everyMs);
    else this.#isBusy = false;
  }
}
