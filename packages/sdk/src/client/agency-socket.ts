import type { TeamFrame } from "../protocol/team.ts";
import { createAcknowledger } from "./acknowledge.ts";
import type { AgentSocketState } from "./agent-socket.ts";
import { describeEnd, isRefusal, ReconnectingSocket } from "./reconnect.ts";

export interface WatchAgencyOptions {
  /** For example `ws://127.0.0.1:5099/agency/global/ws`. */
  url: string;
  /** Omit it in a page of the host: the browser sends its cookie. */
  token?: string;
  /**
   * Every connection begins with a `sync` frame. What happened while there was none is not sent again: read what you
   * show again after each `sync`.
   */
  onFrame(frame: TeamFrame): void;
  onConnection?(state: AgentSocketState, reason?: string): void;
  /** Creates the WebSocket. To send a token, it must support headers, as the one of the package `ws` does. */
  connect?(url: string, headers: Record<string, string>): WebSocket;
}

/** Watches what happens in an agency, reconnecting as needed. Returns a function that stops. */
export function watchAgency(options: WatchAgencyOptions): () => void {
  const headers: Record<string, string> = options.token ? { authorization: `Bearer ${options.token}` } : {};
  const connect = options.connect ?? ((url: string) => new WebSocket(url));
  const acknowledge = createAcknowledger(() => connection.send('{"type":"ack"}'));
  const connection = new ReconnectingSocket({
    connect: () => connect(options.url, headers),
    onOpen: () => {
      acknowledge.reset();
      options.onConnection?.("open");
    },
    onMessage: (data) => {
      if (typeof data !== "string") return;
      acknowledge.receive(data);
      const frame = parseFrame(data);
      if (frame) options.onFrame(frame);
    },
    onClose: (closed) => {
      const isRefused = isRefusal(closed);
      options.onConnection?.(isRefused ? "refused" : "lost", describeEnd(closed));
      return isRefused ? "stop" : "retry";
    },
  });
  return () => connection.close();
}

/** Returns undefined for what is no frame. */
function parseFrame(data: string): TeamFrame | undefined {
  try {
    const frame = JSON.parse(data) as TeamFrame | null;
    return typeof frame?.type === "string" ? frame : undefined;
  } catch {
    return undefined;
  }
}
