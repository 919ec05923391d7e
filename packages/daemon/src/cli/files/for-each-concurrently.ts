/** Each may hold a file of the largest size. */
const maxConcurrent = 4;

/** Does something for all, a few at a time. Where one fails no further ones are begun, and those under way are waited for. */
export async function forEachConcurrently<T>(all: Iterable<T>, work: (one: T) => Promise<void>): Promise<void> {
  const left = all[Symbol.iterator]();
  let hasFailed = false;
  const runWorker = async () => {
    for (let next = left.next(); !next.done && !hasFailed; next = left.next()) {
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
