const network = "The only network access is fetch, as far as the agent's policy allows.";

const reasons: Record<string, string> = {
  WebSocket: network,
  EventSource: network,
  WebSocketPair: "A run serves no requests, and an app returns plain responses.",
};

/** Makes APIs that are missing in a sandbox throw an explanation. They could not reach anything anyway. */
export function markUnavailable(): void {
  for (const [name, reason] of Object.entries(reasons)) defineGlobal(name, createUnavailable(name, reason));
  // Throws on access already.
  Object.defineProperty(globalThis, "caches", {
    get: createUnavailable("caches", "Keep data in variables, or store it with a tool."),
    configurable: true,
  });
  Object.defineProperty(navigator, "sendBeacon", {
    value: createUnavailable("sendBeacon", network),
    configurable: true,
  });
}

function createUnavailable(name: string, reason: string): () => never {
  return function () {
    throw new Error(`${name} is not available in a sandbox. ${reason}`);
  };
}

/** Defines a global that code may still replace. */
export function defineGlobal(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
