import type { RunHost } from "../../run.ts";
import { BoundedText } from "./bounded-text.ts";

const { setTimeout: nativeTimeout } = globalThis;

const sendIntervalMs = 100;
/** Per interval. Of more text, only the beginning and the end are sent. */
const maxPieceChars = 16 * 1024;

/**
 * Sends console output to main while the run lasts, one message at a time. A run that ends before the first interval
 * sends nothing: its outcome contains all of it.
 */
export class ConsoleBridge {
  readonly #host: Pick<RunHost, "writeConsole">;
  #pending: BoundedText | undefined;
  #isBusy = false;

  constructor(host: Pick<RunHost, "writeConsole">) {
    this.#host = host;
  }

  add(text: string): void {
    this.#pending ??= new BoundedText(maxPieceChars);
    this.#pending.add(text);
    if (this.#isBusy) return;
    this.#isBusy = true;
    nativeTimeout(() => this.#send(), sendIntervalMs);
  }

  /** Sends what is left, without waiting for the interval. */
  async flush(): Promise<void> {
    const text = this.#pending?.text ?? "";
    this.#pending = undefined;
    if (text) await this.#host.writeConsole(text).catch(() => {});
  }

  async #send(): Promise<void> {
    const text = this.#pending?.text ?? "";
    this.#pending = undefined;
    // Main may be gone or refuse more text; the code continues.
    await this.#host.writeConsole(text).catch(() => {});
    if (this.#pending) nativeTimeout(() => this.#send(), sendIntervalMs);
    else this.#isBusy = false;
  }
}
