import { watch } from "@thinkery/sdk/client";
import { socketAddress } from "./host.ts";
import type { Follow } from "./source.ts";

const redials = new Set<() => void>();

/** Follows an object of the host by its revision. */
export function followObject(path: string): Follow {
  return (changed, connection) => {
    let revision: number | undefined;
    const open = () =>
      watch<{ revision: number }>({
        url: socketAddress(path),
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
    const redial = () => {
      close();
      close = open();
    };
    const stopRedialling = onRedial(redial);
    return () => {
      stopRedialling();
      close();
    };
  };
}

/** For what the host tells nobody of: looks again now and then, for as long as the page is being looked at. */
export function everySoOften(interval: number): Follow {
  return (changed) => {
    const look = () => {
      if (document.visibilityState === "visible") changed();
    };
    const timer = setInterval(look, interval);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  };
}

/** Called when a person does not want to wait. Returns how to leave. */
export function onRedial(redial: () => void): () => void {
  redials.add(redial);
  return () => void redials.delete(redial);
}

/** Tries every line again now instead of waiting for its next turn. */
export function redialAll(): void {
  for (const redial of redials) redial();
}
