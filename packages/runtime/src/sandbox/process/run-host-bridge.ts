import { maxConsoleChars } from "../bounds.ts";
import type { RunHost } from "../run.ts";
import { BoundedText } from "./harness/bounded-text.ts";

/** Forwards an isolate's calls to main while the run lasts, and keeps its console output. */
export class RunHostBridge {
  #host: RunHost | undefined;
  readonly #console = new BoundedText(maxConsoleChars);

  /**
   * What the isolate gets. Two functions in a plain object: a property of a stub is looked up in Object.prototype first,
   * where code could intercept the stub.
   */
  readonly host: RunHost = {
    call: async (capability, input) => {
      if (!this.#host) throw new Error("This run is over.");
      return this.#host.call(capability, input);
    },
    writeConsole: async (text) => {
      this.#console.add(text);
      await this.#host?.writeConsole(text);
    },
  };

  constructor(host: RunHost) {
    this.#host = host;
  }

  /** For a run that can no longer report its output itself. */
  get console(): string {
    return this.#console.text;
  }

  close(): void {
    this.#host = undefined;
  }
}
