/** Low, because each may hold a file of the maximum size in memory. */
const maxConcurrent = 4;

/** Runs `work` for all items, a few at a time. After a failure no further ones start; running ones are awaited. */
export async function forEachConcurrently<T>(items: Iterable<T>, work: (item: T) => Promise<void>): Promise<void> {
  const remaining = items[Symbol.iterator]();
  let hasFailed = false;
  const runWorker = async () => {
    for (let next = remaining.next(); !next.done && !hasFailed; next = remaining.next()) {
      await work(next.value).catch((error: unknown) => {
        hasFailed = true;
        throw error;
      });
    }
  };
  const outcomes = await Promise.allSettled(Array.from({ length: maxConcurrent }, runWorker));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed) throw failed.reason;
}
