import { RpcTarget } from "cloudflare:workers";
import { maxConsoleChars } from "./bounds.ts";
import type { RunHost } from "./run.ts";

export interface RunBridgeOptions {
  call(capability: string, input: string): Promise<string>;
  onConsole(text: string): void;
}

/** Our own harness never sends longer names or pieces of console text. */
const maxNameChars = 200;
const maxPieceChars = 256 * 1024;
/** All pieces of a run together; the outcome has the beginning and the end anyway. */
const maxTotalChars = 4 * 1024 * 1024;

/** What a bridge works with until it is closed. */
export interface BridgeState<Options extends RunBridgeOptions> {
  /** Undefined once the run is over. */
  options: Options | undefined;
  consoleChars: number;
  maxConsoleChars: number;
  console: string;
}

export function requireOpen<Options extends RunBridgeOptions>({ options }: BridgeState<Options>): Options {
  if (!options) throw new Error("This run is over.");
  return options;
}

/**
 * The only object of main that a run can reach. It is created for one run and closed with it, so a stub that was kept or
 * passed on is useless afterwards. Code can call every public member, so there are only these two.
 */
export class RunBridge extends RpcTarget implements RunHost {
  readonly #state: BridgeState<RunBridgeOptions>;

  constructor(state: BridgeState<RunBridgeOptions>) {
    super();
    this.#state = state;
  }

  async call(capability: unknown, input: unknown): Promise<string> {
    const options = requireOpen(this.#state);
    if (typeof capability !== "string" || capability.length > maxNameChars || typeof input !== "string") {
      throw new Error("A capability takes a name and JSON input.");
    }
    return options.call(capability, input);
  }

  async writeConsole(text: unknown): Promise<void> {
    const state = this.#state;
    if (!state.options || typeof text !== "string" || state.consoleChars > state.maxConsoleChars) return;
    const piece = text.slice(0, maxPieceChars);
    state.consoleChars += piece.length;
    state.console = `${state.console}${piece}`.slice(-maxConsoleChars);
    state.options.onConsole(piece);
  }
}

/** Opens a bridge, with the controls that the run itself must not have. */
export function openRunBridge(options: RunBridgeOptions) {
  const state: BridgeState<RunBridgeOptions> = {
    options,
    consoleChars: 0,
    maxConsoleChars: maxTotalChars,
    console: "",
  };
  return {
    bridge: new RunBridge(state) as RunHost,
    close() {
      state.options = undefined;
    },
    /** Returns the end of the console output, for a run that can no longer report it itself. */
    console: () => state.console,
  };
}
