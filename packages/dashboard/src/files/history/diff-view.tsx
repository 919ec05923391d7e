import type { VersionDiff } from "@thinkery/sdk";
import { useMemo } from "react";
import { DiffTable } from "../../chat/call/diff-table.tsx";
import { LineCounts } from "../../chat/call/line-counts.tsx";
import { Link } from "../../frame/link.tsx";
import { formatBytes } from "../../parts/amount.ts";
import { useWorkspace } from "../open-workspace.tsx";
import { parseDiff } from "./parse-diff.ts";
import { describeChange } from "./version-text.ts";

type FileDiff = VersionDiff["diffs"][number];

/** The changes of a version to one file. */
export function DiffView({ diff, version }: { diff: FileDiff; version: number }) {
  const { to } = useWorkspace();
  const { path, kind, added, removed } = diff;
  const lines = useMemo(() => parseDiff(diff.diff ?? ""), [diff.diff]);
  return (
    <section className="diff" aria-label={describeChange(diff)}>
      <header className="diff-head">
        <h3>
          <span className="diff-kind">{kind}</span>{" "}
          {diff.from !== undefined && <span className="faint">{diff.from} → </span>}
          {path}
        </h3>
        {(added !== undefined || removed !== undefined) && <LineCounts added={added ?? 0} removed={removed ?? 0} />}
        {kind !== "delete" && <Link href={to({ show: "files", path, version })}>File as of version {version}</Link>}
      </header>
      {diff.diff ? <DiffTable lines={lines} /> : <p className="diff-none">{explainMissingDiff(diff)}</p>}
    </section>
  );
}

function explainMissingDiff({ kind, before, after }: FileDiff): string {
  if (kind === "move") return "Moved without changes.";
  if (before && after) return `Binary file, ${formatBytes(before.size)} → ${formatBytes(after.size)}.`;
  const size = (before ?? after)?.size ?? 0;
  return size === 0 ? "Empty file." : `Binary file, ${formatBytes(size)}.`;
}
