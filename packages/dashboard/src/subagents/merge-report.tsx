import type { ForkMerge, Subagent } from "@thinkery/sdk";
import { sanitizeText } from "../chat/call/sanitize-text.ts";

const maxPaths = 5;

/** Which branch a sub-agent works on, or what became of it: merged files, overlaps, a failed check with its output. */
export function MergeReport({ subagent: { merge, branch } }: { subagent: Pick<Subagent, "merge" | "branch"> }) {
  if (!merge) return branch === undefined ? null : <p className="merge">On branch {branch}</p>;
  return (
    <div className="merge" data-merged={merge.isMerged}>
      {merge.isMerged ? <p>{describeChanges(merge)}</p> : <Unmerged merge={merge} />}
      <Overlaps merge={merge} />
    </div>
  );
}

function Unmerged({ merge: { branch, reason = "unknown", check } }: { merge: ForkMerge }) {
  const output = check?.output.trim() ?? "";
  return (
    <>
      <p className="merge-failure">
        On branch <span className="mono">{branch}</span>, not merged: {sanitizeText(reason)}
      </p>
      {output !== "" && (
        <details>
          <summary>Output of the check</summary>
          <pre>{sanitizeText(output)}</pre>
        </details>
      )}
    </>
  );
}

function Overlaps({ merge: { overlaps, moreOverlaps = 0 } }: { merge: ForkMerge }) {
  const count = overlaps.length + moreOverlaps;
  if (count === 0) return null;
  return (
    <details>
      <summary>
        {count} {count === 1 ? "overlap" : "overlaps"}
      </summary>
      <ul>
        {overlaps.map(({ path, line, reason }, index) => (
          <li key={index} title={sanitizeText(reason)}>
            {sanitizeText(path)}
            {line !== undefined && `, line ${line}`}
          </li>
        ))}
        {moreOverlaps > 0 && <li>and {moreOverlaps} more</li>}
      </ul>
    </details>
  );
}

/** Names the first files that a merge changed. */
export function describeChanges({ changes, more = 0 }: ForkMerge): string {
  const count = changes.length + more;
  if (count === 0) return "Merged: no file changed";
  const paths = changes.slice(0, maxPaths).map(({ path }) => sanitizeText(path));
  const rest = count - paths.length;
  return `Merged ${count} ${count === 1 ? "file" : "files"}: ${[...paths, ...(rest > 0 ? [`${rest} more`] : [])].join(", ")}`;
}
