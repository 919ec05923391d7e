import type { TeamFrame } from "@thinkery/sdk";
import { type ChangeableSource, createSource } from "../source.ts";
import type { TeamLink } from "./team-link.ts";

interface FollowOptions<T> {
  link: TeamLink;
  load(): Promise<T>;
  /** Applies a frame. Returns the same value if the frame has nothing to do with it. */
  reduce(value: T, frame: TeamFrame): T;
}

/** How long to wait for a connection before loading without one. */
const maxWaitMs = 1_500;

/**
 * A value that is loaded once for each connection and then changed by the frames of the agency: what happened without a
 * connection is not sent again. Frames that arrive while it loads are applied to what was loaded.
 */
export function createFollowedSource<T>({ link, load, reduce }: FollowOptions<T>): ChangeableSource<T> {
  let missed: TeamFrame[] | undefined;

  const source = createSource<T>(
    async () => {
      await waitForLink(link);
      missed = [];
      try {
        const loaded = await load();
        return missed.reduce(reduce, loaded);
      } finally {
        missed = undefined;
      }
    },
    (changed, connection) => {
      const stopListening = link.listen((frame) => {
        if (frame.type === "sync") {
          // A request that waits for the connection is about to start.
          if (missed || !source.get().loading) changed();
          return;
        }
        missed?.push(frame);
        source.update((value) => reduce(value, frame));
      });
      const unsubscribe = link.connection.subscribe(() => {
        const { state } = link.connection.get();
        if (state !== "connecting") connection(state === "open");
      });
      return () => {
        stopListening();
        unsubscribe();
      };
    },
  );
  return source;
}

/** Resolves once the link is no longer connecting. */
function waitForLink({ connection }: TeamLink): Promise<void> {
  if (connection.get().state !== "connecting") return Promise.resolve();
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      unsubscribe();
      resolve();
    };
    const timer = setTimeout(end, maxWaitMs);
    const unsubscribe = connection.subscribe(() => connection.get().state !== "connecting" && end());
  });
}
