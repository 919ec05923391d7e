import { fail } from "@thinkery/sdk";

/** Reads the `after` of a list whose pages begin after a row's number. */
export function readCursor(cursor: string | undefined, start: number): number {
  if (cursor === undefined) return start;
  if (!/^\d{1,15}$/.test(cursor)) throw fail("bad_request", "“after” is not the `next` of an earlier page.");
  return Number(cursor);
}

/** Roughly how long a page gets: lists end their pages by size, too. */
export const maxPageChars = 1_000_000;

interface PageOptions<Row, Item> {
  limit: number;
  toItem(row: Row): Item;
  countChars(row: Row): number;
  /** Returns the `after` of the page that follows this row. */
  toCursor(row: Row): string;
}

/** Reads a page of rows, of which there may be one more than its limit. A single item may be longer than a page. */
export function takePage<Row, Item>(
  rows: Iterable<Row>,
  { limit, toItem, countChars, toCursor }: PageOptions<Row, Item>,
): { items: Item[]; next?: string } {
  const items: Item[] = [];
  let chars = 0;
  let next = "";
  for (const row of rows) {
    if (items.length === limit || chars > maxPageChars) return { items, next };
    items.push(toItem(row));
    chars += countChars(row);
    next = toCursor(row);
  }
  return { items };
}
