import type { AgentTarget } from "@thinkery/sdk";
import { type Talk, talk, type TalkOptions } from "@thinkery/sdk/client";
import type { WebSocket } from "ws";
import type { Connection } from "../connect.ts";

type TalkHandlers = Pick<TalkOptions, "onFrame" | "onConnection">;

/** So long a closing socket may take for its last words; a command that is done does not wait longer. */
const closeTimeoutMs = 50;

/** The agent's socket, kept open over restarts of the host. */
export async function openTalk({ url, token }: Connection, target: AgentTarget, hearing: TalkHandlers): Promise<Talk> {
  const { WebSocket } = await import("ws");
  const path = `/agency/${encodeURIComponent(target.agency)}/agent/${encodeURIComponent(target.agent)}/ws`;
  let socket: WebSocket | undefined;
  const opened = talk({
    ...hearing,
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
