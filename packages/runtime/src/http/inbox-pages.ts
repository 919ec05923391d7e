import { comparePositions, formatPosition, type InboxPosition } from "../user/inbox.ts";

interface Item {
  id: string;
  createdAt: string;
}

interface Page<T> {
  items: T[];
  next?: string | undefined;
}

interface MergeOptions {
  limit: number;
  order: "oldest first" | "newest first";
}

const getPosition = ({ createdAt, id }: Item): InboxPosition => ({ at: Date.parse(createdAt), id });

/**
 * Merges the same page of several inboxes. An inbox whose page is not its last one may have more behind its last item,
 * so nothing behind that is returned.
 */
export function mergeInboxPages<T extends Item>(pages: readonly Page<T>[], { limit, order }: MergeOptions): Page<T> {
  const direction = order === "oldest first" ? 1 : -1;
  const compare = (one: Item, other: Item) => direction * comparePositions(getPosition(one), getPosition(other));
  const all = pages.flatMap(({ items }) => items).sort(compare);
  const ends = pages.flatMap(({ items, next }) => (next === undefined ? [] : items.slice(-1)));
  const items = all.filter((item) => ends.every((end) => compare(item, end) <= 0)).slice(0, limit);
  const last = items.at(-1);
  const hasMore = ends.length > 0 || items.length < all.length;
  return { items, ...(hasMore && last ? { next: formatPosition(getPosition(last)) } : {}) };
}
