const maxConcurrentRequests = 32;

/** Does the work for all items, a limited number at a time. */
export async function forEachConcurrently<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const queue = [...items];
  const next = async (): Promise<void> => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: maxConcurrentRequests }, next));
}
