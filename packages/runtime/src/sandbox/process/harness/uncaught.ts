/** Errors that nobody waits for: the engine would only tell whoever runs it. */

const { setTimeout: nativeTimeout, setInterval: nativeInterval, Response: NativeResponse } = globalThis;
const { text } = Response.prototype;

export interface UncaughtErrors {
  /** Comes back when everything has been noticed that was rejected by now. */
  settle(): Promise<void>;
  /** What was rejected and has not been handled since. */
  readonly rejections: unknown[];
}

/** `tell` hears at once of what was thrown where it can never be caught. */
export function watchUncaught(tell: (error: unknown) => void): UncaughtErrors {
  const open = new Map<Promise<unknown>, unknown>();
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    open.set(event.promise, event.reason);
  });
  addEventListener("rejectionhandled", (event) => void open.delete(event.promise));
  (self as EventTarget).addEventListener("error", (event) => {
    event.preventDefault();
    tell((event as ErrorEvent).error);
  });
  const guard = (callback: unknown) => {
    if (typeof callback !== "function") return callback;
    return (...values: unknown[]) => {
      try {
        (callback as (...values: unknown[]) => unknown)(...values);
      } catch (error) {
        tell(error);
      }
    };
  };
  globalThis.setTimeout = ((callback: unknown, ...rest: [number]) =>
    nativeTimeout(guard(callback) as () => void, ...rest)) as typeof setTimeout;
  globalThis.setInterval = ((callback: unknown, ...rest: [number]) =>
    nativeInterval(guard(callback) as () => void, ...rest)) as typeof setInterval;
  return {
    async settle() {
      // Rejections are noticed when the engine is through with all that is due; reading a body waits for that, and costs nothing.
      await text.call(new NativeResponse(""));
    },
    get rejections() {
      return [...open.values()];
    },
  };
}
