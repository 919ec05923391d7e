export interface WatchOptions<State> {
  /** `ws://127.0.0.1:5099/agents/agency/global`: an object of the host, by the Agents SDK's own protocol. */
  url: string;
  onState(state: State): void;
  onConnection?(connected: boolean): void;
  /** Node 20 has no WebSocket of its own: pass one there. */
  WebSocket?: typeof WebSocket;
}

const firstDelay = 250;
const longestDelay = 8_000;

/** Follows an object's state for as long as wanted, over any number of lost connections. Returns how to stop. */
export function watch<State>(options: WatchOptions<State>): () => void {
  const Socket = options.WebSocket ?? WebSocket;
  let socket: WebSocket | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let delay = firstDelay;
  let stopped = false;

  const open = () => {
    socket = new Socket(options.url);
    socket.addEventListener("open", () => {
      delay = firstDelay;
      options.onConnection?.(true);
    });
    socket.addEventListener("message", (message) => {
      const state = stateIn(message.data);
      if (state !== undefined) options.onState(state as State);
    });
    // A close follows; but where nobody listens for errors, Node ends the process over one.
    socket.addEventListener("error", () => {});
    socket.addEventListener("close", () => {
      if (stopped) return;
      options.onConnection?.(false);
      timer = setTimeout(open, delay * (0.5 + Math.random() / 2));
      delay = Math.min(delay * 2, longestDelay);
    });
  };
  open();

  return () => {
    stopped = true;
    clearTimeout(timer);
    socket?.close();
  };
}

function stateIn(data: unknown): unknown {
  if (typeof data !== "string") return undefined;
  try {
    const frame = JSON.parse(data) as { type?: string; state?: unknown };
    return frame.type === "cf_agent_state" ? frame.state : undefined;
  } catch {
    return undefined;
  }
}
