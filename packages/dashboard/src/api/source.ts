import { createStore, useStore } from "./store.ts";

export interface Snapshot<T> {
  value?: T;
  /** When `value` was loaded. */
  at?: number;
  error?: Error;
  loading: boolean;
  /** Whether live updates are connected; undefined until known. */
  connected?: boolean;
}

/**
 * Calls `changed` on every change on the host, and `connection` when the connection opens or closes.
 * Returns an unsubscribe function.
 */
export type Follow = (changed: () => void, connection: (open: boolean) => void) => () => void;

/** Data of the host: loaded on the first subscription and kept up to date while there are subscribers. */
export interface Source<T> {
  get(): Snapshot<T>;
  subscribe(listener: () => void): () => void;
  /** Resolves after a request that started after this call has finished. Never rejects: see `error`. */
  reload(): Promise<void>;
}

/** A source whose value may also change without loading it again. */
export interface ChangeableSource<T> extends Source<T> {
  /** Replaces the value, if there is one. */
  update(change: (value: T) => T): void;
}

export function createSource<T>(load: () => Promise<T>, follow?: Follow): ChangeableSource<T> {
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

  // At most one request at a time; any number of calls during it lead to one more.
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
    update(replace) {
      const { value } = store.get();
      if (value !== undefined) change({ value: replace(value) });
    },
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
