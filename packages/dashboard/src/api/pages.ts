export interface Pages<T> {
  items: T[];
  /** There are more than we asked for. */
  more: boolean;
}

const pageSize = 500;
const maxPages = 4;

type PageLoader<T> = (query: { limit: number; after?: string }) => Promise<{ items: T[]; next?: string | undefined }>;

/** Reads a list page by page, up to as many rows as a person could look through. */
export async function readPages<T>(ask: PageLoader<T>): Promise<Pages<T>> {
  const items: T[] = [];
  let after: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const answer = await ask({ limit: pageSize, ...(after ? { after } : {}) });
    items.push(...answer.items);
    after = answer.next;
    if (!after) return { items, more: false };
  }
  return { items, more: true };
}
