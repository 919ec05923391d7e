import type { Approval, ApprovalList, ApprovalQuery } from "@thinkery/sdk";
import { comparePositions, formatPosition, type InboxPosition } from "../user/inbox.ts";

const getPosition = ({ createdAt, id }: Approval): InboxPosition => ({ at: Date.parse(createdAt), id });

/**
 * Merges the same page of several inboxes: pending approvals oldest first, others newest first. An inbox whose page is
 * not its last one may have more behind its last item, so nothing behind that is returned.
 */
export function mergeApprovals(
  pages: readonly ApprovalList[],
  { status = "pending", limit }: Pick<ApprovalQuery, "status" | "limit">,
): ApprovalList {
  const direction = status === "pending" ? 1 : -1;
  const compare = (one: InboxPosition, other: InboxPosition) => direction * comparePositions(one, other);
  const all = pages
    .flatMap(({ approvals }) => approvals)
    .sort((one, other) => compare(getPosition(one), getPosition(other)));
  const ends = pages.flatMap(({ approvals, next }) => {
    const last = approvals.at(-1);
    return next !== undefined && last ? getPosition(last) : [];
  });
  const isComplete = (approval: Approval) => ends.every((end) => compare(getPosition(approval), end) <= 0);
  const approvals = all.filter(isComplete).slice(0, limit);
  const last = approvals.at(-1);
  const hasMore = ends.length > 0 || approvals.length < all.length;
  return { approvals, ...(hasMore && last ? { next: formatPosition(getPosition(last)) } : {}) };
}
