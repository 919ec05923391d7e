import { RpcTarget } from "cloudflare:workers";
import type { AgentCode, AgentRunHost } from "./agent-run.ts";
import { maxConsoleChars } from "./bounds.ts";

export interface AgentBridgeOptions {
  readCode(): AgentCode | Promise<AgentCode>;
  /** Calls a capability. Input and output are JSON. */
  call(capability: string, input: string): Promise<string>;
  onConsole(text: string): void;
}

/** Our own harness never sends longer names or pieces of console text. */
const maxNameChars = 200;
const maxInputChars = 10 * 1024 * 1024;
const maxPieceChars = 256 * 1024;

interface BridgeState {
  /** Undefined once the request is over. */
  options: AgentBridgeOptions | undefined;
  consoleChars: number;
  interrupted: Promise<string>;
}

/**
 * The only object of main that an agent's code can reach. It is created for one request and closed with it, so a stub
 * that was kept is useless afterwards.
 */
class AgentBridge extends RpcTarget implements AgentRunHost {
  readonly #state: BridgeState;

  constructor(state: BridgeState) {
    super();
    this.#state = state;
  }

  async call(capability: unknown, input: unknown): Promise<string> {
    const options = this.#requireOpen();
    if (typeof capability !== "string" || capability.length > maxNameChars || typeof input !== "string")
      throw new Error("A capability takes a name and JSON input.");
    if (input.length > maxInputChars)
      throw new Error(`The input of ${capability} has ${input.length} characters; the limit is ${maxInputChars}.`);
    return options.call(capability, input);
  }

  async readCode(): Promise<AgentCode> {
    return this.#requireOpen().readCode();
  }

  async writeConsole(text: unknown): Promise<void> {
    const state = this.#state;
    if (!state.options || typeof text !== "string" || state.consoleChars > maxConsoleChars) return;
    const piece = text.slice(0, maxPieceChars);
    state.consoleChars += piece.length;
    state.options.onConsole(piece);
  }

  async untilInterrupted(): Promise<string> {
    return this.#state.interrupted;
  }

  #requireOpen(): AgentBridgeOptions {
    const { options } = this.#state;
    if (!options) throw new Error("This request is over.");
    return options;
  }
}

/** Opens a bridge, with the controls that the code itself must not have. */
export function openAgentBridge(options: AgentBridgeOptions) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const state: BridgeState = { options, consoleChars: 0, interrupted: promise };
  return {
    bridge: new AgentBridge(state) as AgentRunHost,
    /** Aborts the signal of the code's request. */
    interrupt: (reason: string) => resolve(reason),
    close() {
      state.options = undefined;
      resolve("The request is over.");
    },
  };
}
