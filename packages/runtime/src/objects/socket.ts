import type { Connection } from "agents";
import type { Subscriber, Frame } from "./broadcaster.ts";

/** A client that has been sent this much without a word from it is cut off: nothing is buffered for ever. */
const maxUnreadBytes = 8 * 1024 * 1024;

/** What is known of a client's socket, also after the object slept. */
export interface SocketState {
  only?: "chat" | "events";
  batch: boolean;
  actions: boolean;
  /** It speaks the Agents SDK's protocol and is sent its state. */
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

/** A client's socket as somebody who listens. */
export class Socket implements Subscriber {
  readonly #connection: Connection;
  readonly state: SocketState;
  #unreadBytes = 0;
  #isClosed = false;

  constructor(connection: Connection, facts: SocketState) {
    this.#connection = connection;
    this.state = facts;
  }

  get wantsActions(): boolean {
    return this.state.actions;
  }

  /** Remembered with the connection, so that it holds after the object slept. */
  wantActions(on: boolean): void {
    this.state.actions = on;
    this.#connection.setState(this.state);
  }

  receive(news: readonly Frame[]): void {
    const texts: string[] = [];
    for (const { event, frame, text } of news) {
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

  /** Any word of the client shows that it reads. */
  noteActivity(): void {
    this.#unreadBytes = 0;
  }

  hasScope(scope: string): boolean {
    return this.state.scopes.includes(scope) || this.state.scopes.includes("admin");
  }

  #send(text: string): void {
    if (this.#isClosed) return;
    // One frame that is larger than all that may wait has to get through nevertheless.
    if (this.#unreadBytes > 0 && this.#unreadBytes + text.length > maxUnreadBytes) {
      this.#isClosed = true;
      this.#connection.close(1013, "You are not reading. Connect again with ?after= to go on.");
      return;
    }
    this.#unreadBytes += text.length;
    // A socket that is just closing throws; its close event follows.
    try {
      this.#connection.send(text);
    } catch {
      this.#isClosed = true;
    }
  }
}
