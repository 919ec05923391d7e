import type { TeamFrame } from "@thinkery/sdk";
import { watchAgency } from "@thinkery/sdk/client";
import { onReconnect } from "../follow.ts";
import { buildSocketUrl, openSocket } from "../host.ts";
import { createStore, type Store } from "../store.ts";

/** `lost`: it reconnects by itself. `refused`: it does not. */
export interface LinkState {
  state: "closed" | "connecting" | "open" | "lost" | "refused";
  reason?: string;
}

type FrameListener = (frame: TeamFrame) => void;

/** The connection to an agency. It is open while somebody retains it. */
export interface TeamLink {
  connection: Pick<Store<LinkState>, "get" | "subscribe">;
  /** Subscribes to frames; returns an unsubscribe function. */
  listen(listener: FrameListener): () => void;
  /** Opens the connection. Returns a function that releases it. */
  retain(): () => void;
  close(): void;
}

/** Opens the connection itself; returns a function that closes it. */
type Watch = (onFrame: FrameListener, onConnection: (state: LinkState["state"], reason?: string) => void) => () => void;

/** Views are left and entered within moments, and the sidebar shows what agents do for a while longer. */
const closeDelayMs = 5_000;

export function createTeamLink(watch: Watch): TeamLink {
  const connection = createStore<LinkState>({ state: "closed" });
  const listeners = new Set<FrameListener>();
  let userCount = 0;
  let closeTimer: ReturnType<typeof setTimeout> | undefined;
  let stop: (() => void) | undefined;

  const close = () => {
    clearTimeout(closeTimer);
    stop?.();
    stop = undefined;
    connection.set({ state: "closed" });
  };
  const open = () => {
    connection.set({ state: "connecting" });
    stop = watch(
      (frame) => {
        for (const listener of listeners) listener(frame);
      },
      (state, reason) => connection.set({ state, ...(reason === undefined ? {} : { reason }) }),
    );
  };

  return {
    connection,
    listen(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    retain() {
      clearTimeout(closeTimer);
      userCount += 1;
      if (!stop) open();
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        userCount -= 1;
        if (userCount === 0) closeTimer = setTimeout(close, closeDelayMs);
      };
    },
    close,
  };
}

/** Watches an agency with the login of the page. */
export function watchWithLogin(agency: string): Watch {
  return (onFrame, onConnection) => {
    const url = buildSocketUrl(`/agency/${encodeURIComponent(agency)}/ws`);
    const open = () => watchAgency({ url, connect: openSocket, onFrame, onConnection });
    let stop = open();
    const stopListening = onReconnect(() => {
      stop();
      stop = open();
    });
    return () => {
      stopListening();
      stop();
    };
  };
}
