import { expect, test } from "vitest";
import { formatPosition } from "../user/inbox.ts";
import { mergeInboxPages } from "./inbox-pages.ts";

/** Items that were created at these seconds. */
const list = (...seconds: number[]) =>
  seconds.map((second) => ({ id: `a${second}`, createdAt: new Date(second * 1000).toISOString() }));

/** The page of an inbox with these items, as the inbox itself would return it. */
function readPage(seconds: readonly number[], limit: number, after: string | undefined, isAscending: boolean) {
  const ordered = seconds.toSorted((one, other) => (isAscending ? one - other : other - one));
  const position = after === undefined ? undefined : Number(after.split(".")[0]) / 1000;
  const isAfter = (second: number, end: number) => (isAscending ? second > end : second < end);
  const rest = ordered.filter((second) => position === undefined || isAfter(second, position));
  const items = list(...rest.slice(0, limit));
  const last = rest[items.length - 1];
  return rest.length > limit && last !== undefined
    ? { items, next: formatPosition({ at: last * 1000, id: `a${last}` }) }
    : { items };
}

test.each(["oldest first", "newest first"] as const)(
  "pages of several inboxes, %s, are read to the end in one order, each item once",
  (order) => {
    const inboxes = [[1, 4, 5, 9, 12], [2, 3, 10, 11], [], [6, 7, 8]];
    const isAscending = order === "oldest first";
    const expected = inboxes.flat().toSorted((one, other) => (isAscending ? one - other : other - one));
    for (const limit of [1, 2, 3, 5, 12, 50]) {
      const found: string[] = [];
      let after: string | undefined;
      for (let page = 0; page < 30; page++) {
        const pages = inboxes.map((inbox) => readPage(inbox, limit, after, isAscending));
        const merged = mergeInboxPages(pages, { order, limit });
        expect(merged.items.length).toBeLessThanOrEqual(limit);
        found.push(...merged.items.map(({ id }) => id));
        after = merged.next;
        if (after === undefined) break;
      }
      expect([limit, found]).toEqual([limit, expected.map((second) => `a${second}`)]);
    }
  },
);

test("what may have something before it on a later page waits for that page", () => {
  const full = { items: list(1), next: "1000.a1" };
  expect(mergeInboxPages([full, { items: list(2, 3) }], { limit: 100, order: "oldest first" })).toEqual({
    items: list(1),
    next: "1000.a1",
  });
});
