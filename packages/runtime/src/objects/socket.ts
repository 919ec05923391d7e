import { hasScope, type Scope } from "@thinkery/sdk";
import type { Connection } from "agents";
import { RateLimiter } from "../host/rate-limiter.ts";
import type { Subscriber, Frame } from "./broadcaster.ts";

/** A client that has been sent this much without sending anything is disconnected, so that buffers stay bounded. */
const maxUnreadBytes = 8 * 1024 * 1024;

/** Frames a client may send at once, and per second: as many as a token may send requests. */
const maxFrameBurst = 1000;
const maxFramesPerSecond = 500;

/** The state of a client's socket, which survives hibernation. */
export interface SocketState {
  only?: "chat" | "events";
  batch: boolean;
  actions: boolean;
  /** The client speaks the Agents SDK's protocol and receives its state. */
  protocol: boolean;
  user: string;
  scopes: string[];
}

export function readSocketState(request: Request): SocketState {
  const query = new URL(request.url).searchParams;
  const only = query.get("only");
  return {
    ...(only === "chat" || only === "events" ? { only } : {}),
    batch: query.get("batch") === "1",
    actions: false,
    protocol: request.headers.get("x-thinkery-socket") !== "1",
    user: request.headers.get("x-thinkery-user") ?? "",
    scopes: (request.headers.get("x-thinkery-scopes") ?? "").split(",").filter(Boolean),
  };
}

/** A client's socket as a subscriber. */
export class Socket implements Subscriber {
  readonly #connection: Connection;
  readonly state: SocketState;
  readonly #frameRate = new RateLimiter(maxFrameBurst, maxFramesPerSecond);
  #unreadBytes = 0;
  #isClosed = false;

  constructor(connection: Connection, state: SocketState) {
    this.#connection = connection;
    this.state = state;
  }

  get wantsActions(): boolean {
    return this.state.actions;
  }

  get wantsSubagents(): boolean {
    return this.state.only !== "events";
  }

  /** Stored with the connection, so that it survives hibernation. */
  setWantsActions(wantsActions: boolean): void {
    this.state.actions = wantsActions;
    this.#connection.setState(this.state);
  }

  receive(frames: readonly Frame[]): void {
    const texts: string[] = [];
    for (const { event, frame, text } of frames) {
      if (event && this.state.only === "chat") continue;
      if (frame && this.state.only === "events") continue;
      if (frame?.type === "action" && !this.state.actions) continue;
      texts.push(text);
    }
    this.send(texts);
  }

  send(texts: readonly string[]): void {
    if (texts.length === 0) return;
    if (this.state.batch && texts.length > 1) this.#send(`{"type":"batch","frames":[${texts.join(",")}]}`);
    else for (const text of texts) this.#send(text);
  }

  /** Counts a frame of the client. Returns whether it may send so many. */
  takeFrame(): boolean {
    return this.#frameRate.take(1);
  }

  /** Any message shows that the client is reading. */
  noteActivity(): void {
    this.#unreadBytes = 0;
  }

  hasScope(scope: Scope): boolean {
    return hasScope(this.state.scopes, scope);
  }

  #send(text: string): void {
    if (this.#isClosed) return;
    // A single frame larger than the limit must still get through.
    if (this.#unreadBytes > 0 && this.#unreadBytes + text.length > maxUnreadBytes) {
      this.#isClosed = true;
      this.#connection.close(1013, "The client is not reading. Reconnect with ?after= to continue.");
      return;
    }
    this.#unreadBytes += text.length;
    // A closing socket throws; its close event follows.
    try {
      this.#connection.send(text);
    } catch {
      this.#isClosed = true;
    }
  }
}
