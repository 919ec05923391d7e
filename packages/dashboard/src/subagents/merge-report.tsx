import type { ForkMerge, Subagent } from "@thinkery/sdk";
import type { ReactNode } from "react";
import { getRootAgent } from "../api/agent-path.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { filesAddress } from "../frame/files-place.ts";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";

const maxPaths = 5;

interface MergeReportProps {
  agency: string;
  /** Path of the agent that it works for. */
  agent: string;
  subagent: Pick<Subagent, "merge" | "branch">;
}

/** Which branch a sub-agent works on, or what became of it: merged files, overlaps, a failed check with its output. */
export function MergeReport({ agency, agent, subagent: { merge, branch } }: MergeReportProps) {
  const link = branch !== undefined && <BranchLink agency={agency} agent={agent} branch={branch} />;
  if (!merge) return link ? <p className="merge">On branch {link}</p> : null;
  return (
    <div className="merge" data-merged={merge.isMerged}>
      {merge.isMerged ? <p>{describeChanges(merge)}</p> : <Unmerged merge={merge} link={link} />}
      <Overlaps merge={merge} />
    </div>
  );
}

/** The name of a branch, as a link to its files. */
function BranchLink({ agency, agent, branch }: { agency: string; agent: string; branch: string }) {
  const href = buildPath(agency, getRootAgent(agent)) + filesAddress.build({ show: "files", branch });
  return (
    <Link className="mono" href={href}>
      {branch}
    </Link>
  );
}

function Unmerged({ merge, link }: { merge: ForkMerge; link: ReactNode }) {
  const { branch, reason = "unknown", check } = merge;
  const output = check?.output.trim() ?? "";
  return (
    <>
      <p className="merge-failure">
        On branch {link || <span className="mono">{branch}</span>}, not merged: {sanitizeText(reason)}
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
