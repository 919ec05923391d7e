import { watch } from "@thinkery/sdk/client";
import { buildSocketUrl } from "./host.ts";
import type { Follow } from "./source.ts";

const reconnectListeners = new Set<() => void>();

/** Follows an object of the host by its revision. */
export function followObject(path: string): Follow {
  return (changed, connection) => {
    let revision: number | undefined;
    const open = () =>
      watch<{ revision: number }>({
        url: buildSocketUrl(path),
        onState(state) {
          if (state.revision === revision) return;
          revision = state.revision;
          changed();
        },
        onConnection(connected) {
          // What happened while the line was down is unknown, so the first word after it counts as news.
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

/** For what the host tells nobody of: looks again now and then, for as long as the page is being looked at. */
export function pollWhileVisible(interval: number): Follow {
  return (changed) => {
    const poll = () => {
      if (document.visibilityState === "visible") changed();
    };
    const timer = setInterval(poll, interval);
    document.addEventListener("visibilitychange", poll);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", poll);
    };
  };
}

/** Called when a person does not want to wait. Returns how to leave. */
export function onReconnect(redial: () => void): () => void {
  reconnectListeners.add(redial);
  return () => void reconnectListeners.delete(redial);
}

/** Tries every line again now instead of waiting for its next turn. */
export function reconnectAll(): void {
  for (const reconnect of reconnectListeners) reconnect();
}
