import { RpcTarget } from "cloudflare:workers";
import { longestConsole, type RunHost } from "./run.ts";

interface RunBridgeOptions {
  call(capability: string, input: string): Promise<string>;
  onConsole(text: string): void;
}

/** Longer capability names and pieces of console text than these come from nobody who plays by the rules. */
const maxNameChars = 200;
const maxPieceChars = 256 * 1024;
/** What all pieces together may have; the outcome has the beginning and the end anyway. */
const maxConsoleChars = 4 * 1024 * 1024;

interface BridgeState {
  /** Nothing any more when the run is over. */
  options: RunBridgeOptions | undefined;
  heard: number;
  console: string;
}

/**
 * What a run holds of main: this object and nothing else. It is made for one run and shut with it, so a stub that was
 * kept, passed on or called again leads nowhere. Every public member can be called from inside, so there are these two.
 */
class RunBridge extends RpcTarget implements RunHost {
  readonly #opened: BridgeState;

  constructor(opened: BridgeState) {
    super();
    this.#opened = opened;
  }

  async call(capability: unknown, input: unknown): Promise<string> {
    const { options } = this.#opened;
    if (!options) throw new Error("The run that this was given to is over.");
    if (typeof capability !== "string" || capability.length > maxNameChars || typeof input !== "string") {
      throw new Error("A capability is called with its name and JSON.");
    }
    return options.call(capability, input);
  }

  async heard(text: unknown): Promise<void> {
    const opened = this.#opened;
    if (!opened.options || typeof text !== "string" || opened.heard > maxConsoleChars) return;
    const piece = text.slice(0, maxPieceChars);
    opened.heard += piece.length;
    opened.console = `${opened.console}${piece}`.slice(-longestConsole);
    opened.options.onConsole(piece);
  }
}

/** A door, and what only its maker may do with it. */
export function openRunBridge(options: RunBridgeOptions) {
  const opened: BridgeState = { options, heard: 0, console: "" };
  return {
    door: new RunBridge(opened) as RunHost,
    shut() {
      opened.options = undefined;
    },
    /** The end of what was heard, for a run that cannot tell it itself any more. */
    console: () => opened.console,
  };
}
