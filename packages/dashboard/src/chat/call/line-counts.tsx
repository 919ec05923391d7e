import { formatCount } from "../../parts/amount.ts";

/** Number of lines added and removed by a change. */
export function LineCounts({ added, removed }: { added: number; removed: number }) {
  return (
    <span className="diff-counts">
      <span data-kind="added">
        <span aria-hidden="true">+{added}</span>
        <span className="visually-hidden">{formatCount(added, "line")} added,</span>
      </span>{" "}
      <span data-kind="removed">
        <span aria-hidden="true">−{removed}</span>
        <span className="visually-hidden">{formatCount(removed, "line")} removed</span>
      </span>
    </span>
  );
}
