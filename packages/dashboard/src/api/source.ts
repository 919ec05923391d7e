import { createStore, useStore } from "./store.ts";

export interface Snapshot<T> {
  value?: T;
  /** When `value` was true. */
  at?: number;
  error?: Error;
  loading: boolean;
  /** Whether changes on the host reach us at once; undefined until it is known. */
  connected?: boolean;
}

/** Follows changes on the host: calls `changed` when there is news, `connection` when the line opens or breaks. */
export type Follow = (changed: () => void, connection: (open: boolean) => void) => () => void;

/** Something of the host, loaded when looked at and kept fresh for as long as anybody looks. */
export interface Source<T> {
  get(): Snapshot<T>;
  subscribe(listener: () => void): () => void;
  /** Settles once an answer is in that was asked for after this call. Never rejects: see `error`. */
  reload(): Promise<void>;
}

export function createSource<T>(load: () => Promise<T>, follow?: Follow): Source<T> {
  const store = createStore<Snapshot<T>>({ loading: false });
  const change = (part: Partial<Snapshot<T>>) => store.set({ ...store.get(), ...part });
  let running: Promise<void> | undefined;
  let next: Promise<void> | undefined;
  let subscriberCount = 0;
  let unfollow: (() => void) | undefined;

  async function run(): Promise<void> {
    change({ loading: true });
    try {
      change({ value: await load(), at: Date.now(), error: undefined, loading: false });
    } catch (error) {
      change({ error: error as Error, loading: false });
    }
  }

  // At most one request at a time, and one more after it however often news came in between.
  function reload(): Promise<void> {
    if (!running) {
      running = run().finally(() => (running = undefined));
      return running;
    }
    next ??= running.then(() => {
      next = undefined;
      return reload();
    });
    return next;
  }

  return {
    get: store.get,
    reload,
    subscribe(listener) {
      const unsubscribe = store.subscribe(listener);
      subscriberCount += 1;
      if (subscriberCount === 1) {
        void reload();
        unfollow = follow?.(
          () => void reload(),
          (connected) => change({ connected }),
        );
      }
      return () => {
        unsubscribe();
        subscriberCount -= 1;
        if (subscriberCount > 0) return;
        unfollow?.();
        unfollow = undefined;
      };
    },
  };
}

const emptySnapshot: Snapshot<never> = { loading: false };
const emptySource = { get: () => emptySnapshot, subscribe: () => () => {} };

export function useSource<T>(source: Source<T> | undefined): Snapshot<T> {
  return useStore<Snapshot<T>>(source ?? emptySource);
}
