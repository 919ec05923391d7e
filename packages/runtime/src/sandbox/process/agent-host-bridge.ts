import type { AgentRunHost } from "../agent-run.ts";

/** Forwards the calls of an agent's code to main while its request lasts. */
export function createAgentHostBridge(host: AgentRunHost): { host: AgentRunHost; close(): void } {
  let open: AgentRunHost | undefined = host;
  const requireOpen = (): AgentRunHost => {
    if (!open) throw new Error("This request is over.");
    return open;
  };
  return {
    // Functions in a plain object: a property of a stub is looked up in Object.prototype first, where code could
    // intercept the stub.
    host: {
      call: async (capability, input) => requireOpen().call(capability, input),
      readCode: async () => requireOpen().readCode(),
      writeConsole: async (text) => open?.writeConsole(text),
      untilInterrupted: async () => requireOpen().untilInterrupted(),
    },
    close() {
      open = undefined;
    },
  };
}
