import type { TeamFrame } from "@thinkery/sdk";
import { watchAgency } from "@thinkery/sdk/client";
import type { WebSocket } from "ws";
import type { Connection } from "../connect.ts";

/** How long a socket may take to close before it is terminated. */
const closeTimeoutMs = 50;
const pollMs = 1000;

interface TeamWatch {
  /** Called when something may have changed. Without a frame, it may be anything. */
  onChange(frame?: TeamFrame): void;
  onConnection?(isConnected: boolean): void;
}

/** Watches an agency over its socket, or every second if the host does not open one. Returns a function that stops. */
export async function watchTeam(
  { url, token }: Connection,
  agency: string,
  { onChange, onConnection }: TeamWatch,
): Promise<() => void> {
  const { WebSocket } = await import("ws");
  let socket: WebSocket | undefined;
  let timer: NodeJS.Timeout | undefined;
  const stop = watchAgency({
    url: `${url.replace(/^http/, "ws")}/agency/${encodeURIComponent(agency)}/ws`,
    token,
    onFrame: (frame) => (frame.type === "sync" ? onChange() : onChange(frame)),
    onConnection: (state) => {
      if (state === "refused") timer ??= setInterval(onChange, pollMs);
      else onConnection?.(state === "open");
    },
    connect: (address, headers) => {
      socket = new WebSocket(address, { headers, perMessageDeflate: false });
      return socket as unknown as globalThis.WebSocket;
    },
  });
  return () => {
    stop();
    clearInterval(timer);
    setTimeout(() => socket?.terminate(), closeTimeoutMs).unref();
  };
}
