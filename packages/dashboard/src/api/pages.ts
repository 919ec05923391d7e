export interface Pages<T> {
  items: T[];
  /** Whether there are items beyond those read. */
  more: boolean;
}

const pageSize = 500;
const maxPages = 4;

type PageLoader<T> = (query: { limit: number; after?: string }) => Promise<{ items: T[]; next?: string | undefined }>;

/** Reads a list page by page, up to `maxPages` pages. */
export async function readPages<T>(loadPage: PageLoader<T>): Promise<Pages<T>> {
  const items: T[] = [];
  let after: string | undefined;
  for (let page = 0; page < maxPages; page++) {
    const { items: pageItems, next } = await loadPage({ limit: pageSize, ...(after ? { after } : {}) });
    items.push(...pageItems);
    after = next;
    if (!after) return { items, more: false };
  }
  return { items, more: true };
}
