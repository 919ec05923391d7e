import type { AgentCode, AgentRunHost } from "./agent-run.ts";
import { maxConsoleChars } from "./bounds.ts";
import { type BridgeState, requireOpen, RunBridge, type RunBridgeOptions } from "./run-bridge.ts";

export interface AgentBridgeOptions extends RunBridgeOptions {
  readCode(): AgentCode | Promise<AgentCode>;
}

const maxInputChars = 10 * 1024 * 1024;

/**
 * The only object of main that an agent's code can reach. It is created for one request and closed with it, so a
 * reference that was kept is useless afterwards.
 */
class AgentBridge extends RunBridge implements AgentRunHost {
  readonly #state: BridgeState<AgentBridgeOptions>;
  readonly #interrupted: Promise<string>;

  constructor(state: BridgeState<AgentBridgeOptions>, interrupted: Promise<string>) {
    super(state);
    this.#state = state;
    this.#interrupted = interrupted;
  }

  override async call(capability: unknown, input: unknown): Promise<string> {
    if (typeof input === "string" && input.length > maxInputChars)
      throw new Error(`The input of a capability has ${input.length} characters; the limit is ${maxInputChars}.`);
    return super.call(capability, input);
  }

  async readCode(): Promise<AgentCode> {
    return requireOpen(this.#state).readCode();
  }

  async untilInterrupted(): Promise<string> {
    return this.#interrupted;
  }
}

/** Opens a bridge, with the controls that the code itself must not have. */
export function openAgentBridge(options: AgentBridgeOptions) {
  const { promise, resolve } = Promise.withResolvers<string>();
  const state: BridgeState<AgentBridgeOptions> = { options, consoleChars: 0, maxConsoleChars, console: "" };
  return {
    bridge: new AgentBridge(state, promise) as AgentRunHost,
    /** Aborts the signal of the code's request. */
    interrupt: (reason: string) => resolve(reason),
    close() {
      state.options = undefined;
      resolve("The request is over.");
    },
  };
}
