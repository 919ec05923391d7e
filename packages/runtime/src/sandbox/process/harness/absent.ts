/** What other places have and this one has not. Nothing here could be reached anyway; this says so in plain words. */

const network = "There is no network here but fetch, and that goes where the agent's policy allows.";

const reasons: Record<string, string> = {
  WebSocket: network,
  EventSource: network,
  WebSocketPair: "A run answers nobody, and an app answers with plain responses.",
};

export function markUnavailable(): void {
  for (const [name, reason] of Object.entries(reasons)) defineGlobal(name, createUnavailable(name, reason));
  // Reading it is enough to be told.
  Object.defineProperty(globalThis, "caches", {
    get: createUnavailable("caches", "Keep what you need in variables, or with a tool."),
    configurable: true,
  });
  Object.defineProperty(navigator, "sendBeacon", {
    value: createUnavailable("sendBeacon", network),
    configurable: true,
  });
}

function createUnavailable(name: string, reason: string): () => never {
  return function () {
    throw new Error(`${name} cannot be used in a sandbox. ${reason}`);
  };
}

/** A global that code may still replace with one of its own. */
export function defineGlobal(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true });
}
