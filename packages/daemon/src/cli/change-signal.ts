import { wait } from "./wait.ts";

/** A flag for changes that were not handled yet; can be awaited. */
export class ChangeSignal {
  isSet = false;
  #wake = () => {};

  set(): void {
    this.isSet = true;
    this.#wake();
  }

  clear(): void {
    this.isSet = false;
  }

  /** Resolves when the flag is set, or after `ms`. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (this.isSet) return;
    const woken = new AbortController();
    const wake = () => woken.abort();
    this.#wake = wake;
    signal.addEventListener("abort", wake, { once: true });
    if (!signal.aborted) await wait(ms, woken.signal);
    signal.removeEventListener("abort", wake);
  }
}
