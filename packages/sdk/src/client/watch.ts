import { ReconnectingSocket } from "./reconnect.ts";

export interface WatchOptions<State> {
  /** The WebSocket URL of an object, as the Agents SDK serves it: `ws://127.0.0.1:5099/agents/agency/global`. */
  url: string;
  onState(state: State): void;
  onConnection?(connected: boolean): void;
  /** Opens the WebSocket. Required in Node 20, which has no global one. */
  connect?(url: string): WebSocket;
}

/** Subscribes to the state of an object, reconnecting as needed. Returns an unsubscribe function. */
export function watch<State>(options: WatchOptions<State>): () => void {
  const connect = options.connect ?? ((url: string) => new WebSocket(url));
  const connection = new ReconnectingSocket({
    connect: () => connect(options.url),
    onOpen: () => options.onConnection?.(true),
    onMessage: (data) => {
      const state = parseState(data);
      if (state !== undefined) options.onState(state as State);
    },
    onClose: () => {
      options.onConnection?.(false);
      return "retry";
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
