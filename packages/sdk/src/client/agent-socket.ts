import type { z } from "zod";
import type { AgentEvent } from "../protocol/event.ts";
import type { ChatFrame, clientFrameSchema, ServerFrame } from "../protocol/frame.ts";
import { createAcknowledger } from "./acknowledge.ts";
import { describeEnd, isRefusal, ReconnectingSocket } from "./reconnect.ts";

/** A frame that a client may send to an agent. */
export type ClientFrameInput = z.input<typeof clientFrameSchema>;

/** `lost`: the socket reconnects by itself. `refused`: it does not try again. */
export type AgentSocketState = "open" | "lost" | "refused";

export interface AgentSocketOptions {
  /** For example `ws://127.0.0.1:5099/agency/global/agent/alice/ws`. */
  url: string;
  /** Omit it in a page of the host: the browser sends its cookie. */
  token?: string;
  /** Receives only chat frames or only events. Both by default. */
  only?: "chat" | "events";
  /** The number of the last known event. Later events are sent first. */
  after?: number;
  onFrame(frame: ChatFrame | AgentEvent): void;
  onConnection?(state: AgentSocketState, reason?: string): void;
  /** Creates the WebSocket. To send a token, it must support headers, as the one of the package `ws` does. */
  connect?(url: string, headers: Record<string, string>): WebSocket;
}

export interface AgentSocket {
  /** Sends a frame, now or after reconnecting. A chat frame is sent again until the agent confirms it. */
  send(frame: ClientFrameInput): void;
  close(): void;
}

/** The close code if a frame was too large. */
const closeCodeTooLarge = 1009;

/**
 * Opens a WebSocket to an agent and keeps it open: it reconnects and resumes after the last event until it is closed or
 * refused.
 */
export function openAgentSocket(options: AgentSocketOptions): AgentSocket {
  const headers: Record<string, string> = options.token ? { authorization: `Bearer ${options.token}` } : {};
  const connect = options.connect ?? ((url: string) => new WebSocket(url));
  /** Chat frames without a `task-queued` yet, by id and in the order they were sent. */
  const unconfirmed = new Map<string, ClientFrameInput>();
  const unsent: ClientFrameInput[] = [];
  let actionsFrame: ClientFrameInput | undefined;
  let after = options.after;
  const acknowledge = createAcknowledger(() => connection.send('{"type":"ack"}'));

  const handleFrame = (frame: ChatFrame | AgentEvent) => {
    if ("seq" in frame) after = Math.max(after ?? 0, frame.seq);
    else if (frame.type === "sync") after = Math.max(after ?? 0, frame.last);
    else if (frame.type === "task-queued") unconfirmed.delete(frame.id);
    else if (frame.type === "error" && frame.id !== undefined) unconfirmed.delete(frame.id);
    options.onFrame(frame);
  };

  // The host closed the connection because of one frame, and would do so again.
  const dropLargest = () => {
    const [largest] = Array.from(unconfirmed.keys()).sort(
      (a, b) => measureFrame(unconfirmed.get(b)) - measureFrame(unconfirmed.get(a)),
    );
    if (largest !== undefined)
      handleFrame({ type: "error", id: largest, code: "too_large", error: "The message is too large to send." });
  };

  const connection = new ReconnectingSocket({
    connect: () => connect(toSocketUrl(options, after), headers),
    onOpen: () => {
      acknowledge.reset();
      options.onConnection?.("open");
      for (const frame of [...(actionsFrame ? [actionsFrame] : []), ...unsent.splice(0), ...unconfirmed.values()]) {
        connection.send(JSON.stringify(frame));
      }
    },
    onMessage: (data) => {
      if (typeof data !== "string") return;
      acknowledge.receive(data);
      for (const frame of parseFrames(data)) handleFrame(frame);
    },
    onClose: (closed) => {
      if (closed.code === closeCodeTooLarge) dropLargest();
      const isRefused = isRefusal(closed);
      options.onConnection?.(isRefused ? "refused" : "lost", describeEnd(closed));
      return isRefused ? "stop" : "retry";
    },
  });

  return {
    send(frame) {
      if (frame.type === "chat") unconfirmed.set(frame.id, frame);
      // A subscription belongs to one connection, so it is sent again with each.
      if (frame.type === "actions") actionsFrame = frame.on ? frame : undefined;
      const isSent = connection.send(JSON.stringify(frame));
      if (!isSent && frame.type !== "chat" && frame.type !== "actions" && frame.type !== "ack") unsent.push(frame);
    },
    close: () => connection.close(),
  };
}

function measureFrame(frame: ClientFrameInput | undefined): number {
  return JSON.stringify(frame ?? "").length;
}

function toSocketUrl({ url, only }: AgentSocketOptions, after: number | undefined): string {
  const query = new URLSearchParams({ batch: "1" });
  if (only) query.set("only", only);
  if (after !== undefined) query.set("after", String(after));
  return `${url}?${query}`;
}

function parseFrames(data: string): (ChatFrame | AgentEvent)[] {
  try {
    const frame = JSON.parse(data) as ServerFrame | null;
    if (typeof frame !== "object" || frame === null) return [];
    return frame.type === "batch" ? frame.frames : [frame];
  } catch {
    return [];
  }
}
