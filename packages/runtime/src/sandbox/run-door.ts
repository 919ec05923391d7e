import { RpcTarget } from "cloudflare:workers";
import { longestConsole, type RunHost } from "./run.ts";

interface DoorOptions {
  call(capability: string, input: string): Promise<string>;
  onConsole(text: string): void;
}

/** Longer capability names and pieces of console text than these come from nobody who plays by the rules. */
const longestName = 200;
const longestPiece = 256 * 1024;
/** What all pieces together may have; the outcome has the beginning and the end anyway. */
const mostHeard = 4 * 1024 * 1024;

/**
 * What a run holds of main: this object and nothing else. It is made for one run and shut with it, so a stub that was
 * kept, passed on or called again leads nowhere.
 */
export class RunDoor extends RpcTarget implements RunHost {
  #options: DoorOptions | undefined;
  #heard = 0;
  #console = "";

  constructor(options: DoorOptions) {
    super();
    this.#options = options;
  }

  async call(capability: unknown, input: unknown): Promise<string> {
    if (!this.#options) throw new Error("The run that this was given to is over.");
    if (typeof capability !== "string" || capability.length > longestName || typeof input !== "string") {
      throw new Error("A capability is called with its name and JSON.");
    }
    return this.#options.call(capability, input);
  }

  async heard(text: unknown): Promise<void> {
    if (!this.#options || typeof text !== "string" || this.#heard > mostHeard) return;
    const piece = text.slice(0, longestPiece);
    this.#heard += piece.length;
    this.#console = `${this.#console}${piece}`.slice(-longestConsole);
    this.#options.onConsole(piece);
  }

  /** The end of what was heard, for a run that cannot tell it itself any more. */
  get console(): string {
    return this.#console;
  }

  shut(): void {
    this.#options = undefined;
  }
}
