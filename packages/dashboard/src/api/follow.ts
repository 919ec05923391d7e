import { watch } from "@thinkery/sdk/client";
import { buildSocketUrl, openSocket } from "./host.ts";
import type { Follow } from "./source.ts";

const reconnectListeners = new Set<() => void>();

/** Follows an object on the host by its revision number. */
export function followObject(path: string): Follow {
  return (changed, connection) => {
    let revision: number | undefined;
    const open = () =>
      watch<{ revision: number }>({
        url: buildSocketUrl(path),
        connect: openSocket,
        onState(state) {
          if (state.revision === revision) return;
          revision = state.revision;
          changed();
        },
        onConnection(connected) {
          // Changes may have been missed while disconnected, so the first state after reconnecting counts as a change.
          if (!connected) revision = undefined;
          connection(connected);
        },
      });
    let close = open();
    const reconnect = () => {
      close();
      close = open();
    };
    const stopListening = onReconnect(reconnect);
    return () => {
      stopListening();
      close();
    };
  };
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

/** Subscribes to `reconnectAll`; returns an unsubscribe function. */
export function onReconnect(listener: () => void): () => void {
  reconnectListeners.add(listener);
  return () => void reconnectListeners.delete(listener);
}

/** Reconnects everything now instead of waiting for the next attempt. */
export function reconnectAll(): void {
  for (const reconnect of reconnectListeners) reconnect();
}
