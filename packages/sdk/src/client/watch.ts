import { ReconnectingSocket } from "./reconnect.ts";

export interface WatchOptions<State> {
  /** `ws://127.0.0.1:5099/agents/agency/global`: an object of the host, by the Agents SDK's own protocol. */
  url: string;
  onState(state: State): void;
  onConnection?(connected: boolean): void;
  /** Node 20 has no WebSocket of its own: pass one there. */
  WebSocket?: typeof WebSocket;
}

/** Follows an object's state for as long as wanted, over any number of lost connections. Returns how to stop. */
export function watch<State>(options: WatchOptions<State>): () => void {
  const Socket = options.WebSocket ?? WebSocket;
  const connection = new ReconnectingSocket({
    connect: () => new Socket(options.url),
    onOpen: () => options.onConnection?.(true),
    onMessage: (data) => {
      const state = parseState(data);
      if (state !== undefined) options.onState(state as State);
    },
    onEnded: () => {
      options.onConnection?.(false);
      return "again";
    },
  });
  return () => connection.close();
}

function parseState(data: unknown): unknown {
  if (typeof data !== "string") return undefined;
  try {
    const frame = JSON.parse(data) as { type?: string; state?: unknown };
    return frame.type === "cf_agent_state" ? frame.state : undefined;
  } catch {
    return undefined;
  }
}
