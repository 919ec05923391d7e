/** Those who wait for a child that is ready. Children are counted; each is a generation. */
interface Readiness {
  /** Resolves when a child that came after this generation is ready, with its own; rejects when none can be for now. */
  after(generation: number): Promise<number>;
  /** This one is ready now. */
  is(generation: number): void;
  /** The one that was ready is no longer. */
  over(): void;
  /** There will be none, for this reason, unless hope returns. */
  never(reason: Error): void;
  hope(): void;
}

export function readiness(): Readiness {
  let ready: number | undefined;
  let hopeless: Error | undefined;
  const waiting = new Set<{ after: number; resolve(generation: number): void; reject(reason: Error): void }>();

  return {
    async after(after) {
      if (hopeless) throw hopeless;
      if (ready !== undefined && ready > after) return ready;
      return new Promise((resolve, reject) => waiting.add({ after, resolve, reject }));
    },
    is(generation) {
      ready = generation;
      for (const one of waiting) {
        if (generation <= one.after) continue;
        waiting.delete(one);
        one.resolve(generation);
      }
    },
    over() {
      ready = undefined;
    },
    never(reason) {
      hopeless = reason;
      for (const { reject } of waiting) reject(reason);
      waiting.clear();
    },
    hope() {
      hopeless = undefined;
    },
  };
}
