/** Those who wait for a child that is ready. Children are counted; each is a generation. */
interface Readiness {
  /** Resolves when a child that came after this generation is ready, with its own; rejects when none can be for now. */
  waitAfter(generation: number): Promise<number>;
  /** This one is ready now. */
  setReady(generation: number): void;
  /** The one that was ready is no longer. */
  clearReady(): void;
  /** There will be none, for this reason, unless hope returns. */
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
      for (const one of waiting) {
        if (generation <= one.after) continue;
        waiting.delete(one);
        one.resolve(generation);
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
