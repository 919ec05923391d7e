import type { z } from "zod";
import type { AgentEvent } from "../protocol/event.ts";
import type { ChatFrame, clientFrameSchema, ServerFrame } from "../protocol/frame.ts";
import { type ConnectionEnd, ReconnectingSocket } from "./reconnect.ts";

/** What a client may send, as it writes it. */
export type ClientFrameInput = z.input<typeof clientFrameSchema>;

export type AgentSocketState = "open" | "lost" | "refused";

export interface AgentSocketOptions {
  /** `ws://127.0.0.1:5099/agency/global/agent/alice/ws`. */
  url: string;
  /** Left out in the page: the browser sends its cookie. */
  token?: string;
  only?: "chat" | "events";
  /** The number of the last event already known; what came after it is sent first. */
  after?: number;
  onFrame(frame: ChatFrame | AgentEvent): void;
  /** “lost” is followed by another try; “refused” is the end. */
  onConnection?(state: AgentSocketState, reason?: string): void;
  /** Node: a WebSocket that can send headers, such as that of `ws`. */
  connect?(url: string, headers: Record<string, string>): WebSocket;
}

export interface AgentSocket {
  /** What is said without a connection is sent with the next one. A chat frame goes out again until the agent has it. */
  send(frame: ClientFrameInput): void;
  close(): void;
}

/** The host cuts off whoever has megabytes outstanding; this often we say that we have read. */
const ackBytes = 256 * 1024;

/** The close code of a socket that was sent too much at once. */
const closeCodeTooLarge = 1009;

/** Talks to an agent for as long as wanted, over any number of lost connections. */
export function openAgentSocket(options: AgentSocketOptions): AgentSocket {
  const headers: Record<string, string> = options.token ? { authorization: `Bearer ${options.token}` } : {};
  const connect = options.connect ?? ((url: string) => new WebSocket(url));
  /** Chat frames whose `task-queued` has not come, by id and in the order they were sent. */
  const unanswered = new Map<string, ClientFrameInput>();
  const unsent: ClientFrameInput[] = [];
  let wish: ClientFrameInput | undefined;
  let after = options.after;
  let unread = 0;

  const handleFrame = (frame: ChatFrame | AgentEvent) => {
    if ("seq" in frame) after = Math.max(after ?? 0, frame.seq);
    else if (frame.type === "sync") after = Math.max(after ?? 0, frame.last);
    else if (frame.type === "task-queued") unanswered.delete(frame.id);
    else if (frame.type === "error" && frame.id !== undefined) unanswered.delete(frame.id);
    options.onFrame(frame);
  };

  // The host ended the connection over one frame, and would again.
  const dropLongest = () => {
    const [longest] = Array.from(unanswered.keys()).sort(
      (a, b) => measureFrame(unanswered.get(b)) - measureFrame(unanswered.get(a)),
    );
    if (longest !== undefined)
      handleFrame({ type: "error", id: longest, code: "too_large", error: "The message is too large to be sent." });
  };

  const connection = new ReconnectingSocket({
    connect: () => connect(toSocketUrl(options, after), headers),
    onOpen: () => {
      unread = 0;
      options.onConnection?.("open");
      for (const frame of [...(wish ? [wish] : []), ...unsent.splice(0), ...unanswered.values()]) {
        connection.send(JSON.stringify(frame));
      }
    },
    onMessage: (data) => {
      if (typeof data !== "string") return;
      unread += data.length;
      if (unread >= ackBytes) {
        unread = 0;
        connection.send('{"type":"ack"}');
      }
      for (const frame of parseFrames(data)) handleFrame(frame);
    },
    onEnded: (ended) => {
      if (ended.code === closeCodeTooLarge) dropLongest();
      const final = isFinal(ended);
      options.onConnection?.(final ? "refused" : "lost", ended.reason || getRefusalReason(ended));
      return final ? "final" : "again";
    },
  });

  return {
    send(frame) {
      if (frame.type === "chat") unanswered.set(frame.id, frame);
      // Told anew on every connection, because it belongs to one.
      if (frame.type === "actions") wish = frame.on ? frame : undefined;
      const sent = connection.send(JSON.stringify(frame));
      if (!sent && (frame.type === "cancel" || frame.type === "approve")) unsent.push(frame);
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

// 44xx is the host's own “you may not” or “there is none”: asking again would be answered the same.
function isFinal({ code, status = 0 }: ConnectionEnd): boolean {
  const refusal = status >= 400 && status < 500 && status !== 408 && status !== 429;
  return refusal || (code >= 4400 && code < 4500);
}

function getRefusalReason({ status }: ConnectionEnd): string | undefined {
  return status === undefined ? undefined : `The host answered ${status}.`;
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
