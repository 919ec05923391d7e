import type { Approval, ApprovalList } from "@thinkery/sdk";
import { expect, test } from "vitest";
import { formatPosition } from "../user/inbox.ts";
import { mergeApprovals } from "./approval-pages.ts";

/** Approvals that were asked for at these seconds. */
const list = (...seconds: number[]) =>
  seconds.map((second) => ({ id: `a${second}`, createdAt: new Date(second * 1000).toISOString() }) as Approval);

/** The page of an inbox with these approvals, as the inbox itself would return it. */
function readPage(seconds: readonly number[], limit: number, after?: string, isPending = true): ApprovalList {
  const ordered = seconds.toSorted((one, other) => (isPending ? one - other : other - one));
  const position = after === undefined ? undefined : Number(after.split(".")[0]) / 1000;
  const rest = ordered.filter(
    (second) => position === undefined || (isPending ? second > position : second < position),
  );
  const approvals = list(...rest.slice(0, limit));
  const last = rest[approvals.length - 1];
  return rest.length > limit && last !== undefined
    ? { approvals, next: formatPosition({ at: last * 1000, id: `a${last}` }) }
    : { approvals };
}

test.each(["pending", "all"] as const)(
  "pages of several inboxes (%s) are read to the end in one order, each item once",
  (status) => {
    const inboxes = [[1, 4, 5, 9, 12], [2, 3, 10, 11], [], [6, 7, 8]];
    const isPending = status === "pending";
    const expected = inboxes.flat().toSorted((one, other) => (isPending ? one - other : other - one));
    for (const limit of [1, 2, 3, 5, 12, 50]) {
      const found: string[] = [];
      let after: string | undefined;
      for (let page = 0; page < 30; page++) {
        const pages = inboxes.map((inbox) => readPage(inbox, limit, after, isPending));
        const merged = mergeApprovals(pages, { status, limit });
        expect(merged.approvals.length).toBeLessThanOrEqual(limit);
        found.push(...merged.approvals.map(({ id }) => id));
        after = merged.next;
        if (after === undefined) break;
      }
      expect([limit, found]).toEqual([limit, expected.map((second) => `a${second}`)]);
    }
  },
);

test("what may have something before it on a later page waits for that page", () => {
  const full: ApprovalList = { approvals: list(1), next: "1000.a1" };
  expect(mergeApprovals([full, { approvals: list(2, 3) }], { limit: 100 })).toEqual({
    approvals: list(1),
    next: "1000.a1",
  });
});
