import type { AgentTarget } from "@thinkery/sdk";
import { type AgentSocket, openAgentSocket, type AgentSocketOptions } from "@thinkery/sdk/client";
import type { WebSocket } from "ws";
import type { Connection } from "../connect.ts";

type SocketHandlers = Pick<AgentSocketOptions, "onFrame" | "onConnection">;

/** How long a socket may take to close before it is terminated. */
const closeTimeoutMs = 50;

/** Opens the agent's socket; it reconnects when the host restarts. */
export async function openSocket(
  { url, token }: Connection,
  target: AgentTarget,
  handlers: SocketHandlers,
): Promise<AgentSocket> {
  const { WebSocket } = await import("ws");
  const path = `/agency/${encodeURIComponent(target.agency)}/agent/${target.agent.split("/").map(encodeURIComponent).join("/sub/")}/ws`;
  let socket: WebSocket | undefined;
  const opened = openAgentSocket({
    ...handlers,
    url: url.replace(/^http/, "ws") + path,
    token,
    connect: (address, headers) => {
      socket = new WebSocket(address, { headers, perMessageDeflate: false });
      return socket as unknown as globalThis.WebSocket;
    },
  });
  return {
    ...opened,
    close() {
      opened.close();
      setTimeout(() => socket?.terminate(), closeTimeoutMs).unref();
    },
  };
}
