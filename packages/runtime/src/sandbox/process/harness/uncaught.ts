const { setTimeout: nativeTimeout, setInterval: nativeInterval, Response: NativeResponse } = globalThis;
const { text } = Response.prototype;

/** Errors that nothing handles; the engine would only report them to its operator. */
export interface UncaughtErrors {
  /** Resolves when every rejection so far has been noticed. */
  settle(): Promise<void>;
  /** Rejections that have not been handled. */
  readonly rejections: unknown[];
}

/** Watches for uncaught errors. `onError` is called at once for errors that can never be caught. */
export function watchUncaught(onError: (error: unknown) => void): UncaughtErrors {
  const open = new Map<Promise<unknown>, unknown>();
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    open.set(event.promise, event.reason);
  });
  addEventListener("rejectionhandled", (event) => void open.delete(event.promise));
  (self as EventTarget).addEventListener("error", (event) => {
    event.preventDefault();
    onError((event as ErrorEvent).error);
  });
  const guard = (callback: unknown) => {
    if (typeof callback !== "function") return callback;
    return (...values: unknown[]) => {
      try {
        (callback as (...values: unknown[]) => unknown)(...values);
      } catch (error) {
        onError(error);
      }
    };
  };
  globalThis.setTimeout = ((callback: unknown, ...rest: [number]) =>
    nativeTimeout(guard(callback) as () => void, ...rest)) as typeof setTimeout;
  globalThis.setInterval = ((callback: unknown, ...rest: [number]) =>
    nativeInterval(guard(callback) as () => void, ...rest)) as typeof setInterval;
  return {
    async settle() {
      // The engine reports rejections after all pending work. Reading a body waits for that, at no cost.
      await text.call(new NativeResponse(""));
    },
    get rejections() {
      return [...open.values()];
    },
  };
}
