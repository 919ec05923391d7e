import { watch } from "@thinkery/sdk/client";
import { buildSocketUrl, openSocket } from "./host.ts";
import type { Follow } from "./source.ts";

/** The state that an object on the host syncs to its clients. */
export interface ObjectState {
  revision: number;
  /** Of a user: how many approvals and questions wait for an answer. */
  waiting?: number;
}

interface Follower {
  /** `reconnected` is true for the first state of a connection: changes before it may have been missed. */
  state(state: ObjectState, reconnected: boolean): void;
  connection(open: boolean): void;
}

const reconnectListeners = new Set<() => void>();
const connections = new Map<string, ObjectConnection>();

/** Follows an object on the host by its revision number. */
export function followObject(path: string): Follow {
  return (changed, connection) => {
    let revision: number | undefined;
    return followState(path, {
      state(state, reconnected) {
        if (!reconnected && state.revision === revision) return;
        revision = state.revision;
        changed();
      },
      connection,
    });
  };
}

/** Follows the state of an object on the host. Returns an unsubscribe function. */
export function followState(path: string, follower: Follower): () => void {
  let connection = connections.get(path);
  if (!connection) {
    connection = new ObjectConnection(path);
    connections.set(path, connection);
  }
  return connection.add(follower);
}

/** The connection to an object, shared by everything that follows it. */
class ObjectConnection {
  readonly #path: string;
  readonly #followers = new Set<Follower>();
  #state: ObjectState | undefined;
  #isOpen: boolean | undefined;
  #close = () => {};

  constructor(path: string) {
    this.#path = path;
  }

  add(follower: Follower): () => void {
    this.#followers.add(follower);
    if (this.#followers.size === 1) this.#start();
    else {
      if (this.#isOpen !== undefined) follower.connection(this.#isOpen);
      if (this.#state) follower.state(this.#state, true);
    }
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size > 0) return;
      this.#close();
      connections.delete(this.#path);
    };
  }

  #start(): void {
    let close = this.#open();
    const stopListening = onReconnect(() => {
      close();
      close = this.#open();
    });
    this.#close = () => {
      stopListening();
      close();
    };
  }

  #open(): () => void {
    return watch<ObjectState>({
      url: buildSocketUrl(this.#path),
      connect: openSocket,
      onState: (state) => {
        const reconnected = this.#state === undefined;
        this.#state = state;
        for (const follower of this.#followers) follower.state(state, reconnected);
      },
      onConnection: (open) => {
        this.#isOpen = open;
        if (!open) this.#state = undefined;
        for (const follower of this.#followers) follower.connection(open);
      },
    });
  }
}

/** Polls for data that the host sends no change events for, while the page is visible. */
export function pollWhileVisible(intervalMs: number): Follow {
  return (changed) => {
    const poll = () => {
      if (document.visibilityState === "visible") changed();
    };
    const timer = setInterval(poll, intervalMs);
    document.addEventListener("visibilitychange", poll);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", poll);
    };
  };
}

/** Follows several things at once; the connection is that of any of them. */
export function followAll(...follows: Follow[]): Follow {
  return (changed, connection) => {
    const stops = follows.map((follow) => follow(changed, connection));
    return () => {
      for (const stop of stops) stop();
    };
  };
}

/** Subscribes to `reconnectAll`; returns an unsubscribe function. */
export function onReconnect(listener: () => void): () => void {
  reconnectListeners.add(listener);
  return () => void reconnectListeners.delete(listener);
}

/** Reconnects everything now instead of waiting for the next attempt. */
export function reconnectAll(): void {
  for (const reconnect of reconnectListeners) reconnect();
}
