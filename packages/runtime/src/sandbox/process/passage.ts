import { RpcTarget } from "cloudflare:workers";
import { longestConsole } from "../bounds.ts";
import type { RunHost } from "../run.ts";
import { Written } from "./harness/written.ts";

/** What an isolate holds of main: it passes things on, remembers what was said, and leads nowhere once the run is over. */
export class Passage extends RpcTarget implements RunHost {
  #host: RunHost | undefined;
  readonly #written = new Written(longestConsole);

  constructor(host: RunHost) {
    super();
    this.#host = host;
  }

  async call(capability: string, input: string): Promise<string> {
    if (!this.#host) throw new Error("The run that this was given to is over.");
    return this.#host.call(capability, input);
  }

  async heard(text: string): Promise<void> {
    this.#written.add(text);
    await this.#host?.heard(text);
  }

  /** For a run that can no longer tell it itself. */
  get console(): string {
    return this.#written.text;
  }

  shut(): void {
    this.#host = undefined;
  }
}
