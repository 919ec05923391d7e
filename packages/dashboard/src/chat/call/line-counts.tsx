import { formatCount } from "../../parts/amount.ts";

/** How many lines a change has added and removed. */
export function LineCounts({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="diff-counts">
      <span data-kind="added">
        <span aria-hidden="true">+{added}</span>
        <span className="unseen">{formatCount(added, "line")} added,</span>
      </span>{" "}
      <span data-kind="removed">
        <span aria-hidden="true">−{removed}</span>
        <span className="unseen">{formatCount(removed, "line")} removed</span>
      </span>
    </span>
  );
}
