import type { RunHost } from "../../run.ts";
import { BoundedText } from "./bounded-text.ts";

const { setTimeout: nativeTimeout } = globalThis;

const sendIntervalMs = 100;
/** Of what comes faster than this, the beginning and the end of each time are told. */
const maxPieceChars = 16 * 1024;

/**
 * Tells main what is written while the run goes on, never twice at a time. A run that is over sooner has told nothing
 * this way: all of it is in its outcome.
 */
export class ConsoleBridge {
  readonly #host: RunHost;
  #pending: BoundedText | undefined;
  #isBusy = false;

  constructor(host: RunHost) {
    this.#host = host;
  }

  add(text: string): void {
    this.#pending ??= new BoundedText(maxPieceChars);
    this.#pending.add(text);
    if (this.#isBusy) return;
    this.#isBusy = true;
    nativeTimeout(() => this.#send(), sendIntervalMs);
  }

  async #send(): Promise<void> {
    const text = this.#pending?.text ?? "";
    this.#pending = undefined;
    // Main may be gone, or tired of it; the code goes on.
    await this.#host.heard(text).catch(() => {});
    if (this.#pending) nativeTimeout(() => this.#send(), sendIntervalMs);
    else this.#isBusy = false;
  }
}
