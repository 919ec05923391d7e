import type { Connection } from "agents";
import type { Ear, News } from "./audience.ts";

/** A client that has been sent this much without a word from it is cut off: nothing is buffered for ever. */
const maxUnreadBytes = 8 * 1024 * 1024;

/** What is known of a client's socket, also after the object slept. */
export interface SocketFacts {
  only?: "chat" | "events";
  batch: boolean;
  actions: boolean;
  /** It speaks the Agents SDK's protocol and is sent its state. */
  protocol: boolean;
  user: string;
  scopes: string[];
}

export function socketFacts(request: Request): SocketFacts {
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
export class Socket implements Ear {
  readonly #connection: Connection;
  readonly facts: SocketFacts;
  #unread = 0;
  #closed = false;

  constructor(connection: Connection, facts: SocketFacts) {
    this.#connection = connection;
    this.facts = facts;
  }

  get wantsActions(): boolean {
    return this.facts.actions;
  }

  /** Remembered with the connection, so that it holds after the object slept. */
  wantActions(on: boolean): void {
    this.facts.actions = on;
    this.#connection.setState(this.facts);
  }

  hear(news: readonly News[]): void {
    const texts: string[] = [];
    for (const { event, frame, text } of news) {
      if (event && this.facts.only === "chat") continue;
      if (frame && this.facts.only === "events") continue;
      if (frame?.type === "action" && !this.facts.actions) continue;
      texts.push(text);
    }
    this.send(texts);
  }

  send(texts: readonly string[]): void {
    if (texts.length === 0) return;
    if (this.facts.batch && texts.length > 1) this.#send(`{"type":"batch","frames":[${texts.join(",")}]}`);
    else for (const text of texts) this.#send(text);
  }

  /** Any word of the client shows that it reads. */
  alive(): void {
    this.#unread = 0;
  }

  may(scope: string): boolean {
    return this.facts.scopes.includes(scope) || this.facts.scopes.includes("admin");
  }

  #send(text: string): void {
    if (this.#closed) return;
    // One frame that is larger than all that may wait has to get through nevertheless.
    if (this.#unread > 0 && this.#unread + text.length > maxUnreadBytes) {
      this.#closed = true;
      this.#connection.close(1013, "You are not reading. Connect again with ?after= to go on.");
      return;
    }
    this.#unread += text.length;
    // A socket that is just closing throws; its close event follows.
    try {
      this.#connection.send(text);
    } catch {
      this.#closed = true;
    }
  }
}
