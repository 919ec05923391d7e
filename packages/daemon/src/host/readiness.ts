/** Tracks whether a supervised child is ready. Each child is a generation, numbered in order. */
interface Readiness {
  /** Resolves with the generation of a ready child newer than this one; rejects after `giveUp`. */
  waitAfter(generation: number): Promise<number>;
  setReady(generation: number): void;
  clearReady(): void;
  /** Rejects all pending and future waits until `reset`. */
  giveUp(reason: Error): void;
  reset(): void;
}

export function createReadiness(): Readiness {
  let ready: number | undefined;
  let failure: Error | undefined;
  const waiting = new Set<{ after: number; resolve(generation: number): void; reject(reason: Error): void }>();

  return {
    async waitAfter(after) {
      if (failure) throw failure;
      if (ready !== undefined && ready > after) return ready;
      return new Promise((resolve, reject) => waiting.add({ after, resolve, reject }));
    },
    setReady(generation) {
      ready = generation;
      for (const waiter of waiting) {
        if (generation <= waiter.after) continue;
        waiting.delete(waiter);
        waiter.resolve(generation);
      }
    },
    clearReady() {
      ready = undefined;
    },
    giveUp(reason) {
      failure = reason;
      for (const { reject } of waiting) reject(reason);
      waiting.clear();
    },
    reset() {
      failure = undefined;
    },
  };
}
