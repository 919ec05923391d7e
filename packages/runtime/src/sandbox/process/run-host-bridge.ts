import { maxConsoleChars } from "../bounds.ts";
import type { RunHost } from "../run.ts";
import { BoundedText } from "./harness/bounded-text.ts";

/** The way from an isolate to main: it passes things on, remembers what was said, and leads nowhere once the run is over. */
export class RunHostBridge {
  #host: RunHost | undefined;
  readonly #written = new BoundedText(maxConsoleChars);

  /**
   * What the isolate holds. Two functions in a plain object: a property of a stub is looked for in the prototype of all
   * objects first, and there code could lie in wait for the stub.
   */
  readonly inside: RunHost = {
    call: async (capability, input) => {
      if (!this.#host) throw new Error("The run that this was given to is over.");
      return this.#host.call(capability, input);
    },
    heard: async (text) => {
      this.#written.add(text);
      await this.#host?.heard(text);
    },
  };

  constructor(host: RunHost) {
    this.#host = host;
  }

  /** For a run that can no longer tell it itself. */
  get console(): string {
    return this.#written.text;
  }

  shut(): void {
    this.#host = undefined;
  }
}
