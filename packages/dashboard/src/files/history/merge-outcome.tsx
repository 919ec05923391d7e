import type { Change, MergeResponse, Overlap } from "@thinkery/sdk";
import { sanitizeText } from "../../chat/call/sanitize-text.ts";
import { Link } from "../../frame/link.tsx";
import { formatCount } from "../../parts/amount.ts";
import { Notice } from "../../parts/notice.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { describeChange } from "./version-text.ts";

const maxListed = 20;

/** What comes of a revert or a merge: `done` says whether it has happened. */
export function MergeOutcome({
  merged: { changes, overlaps },
  done,
  into,
}: {
  merged: MergeResponse;
  done: boolean;
  into?: string | undefined;
}) {
  if (changes.length === 0 && overlaps.length === 0)
    return <p>There is nothing to change: it is all as it would be.</p>;
  return (
    <div className="outcome">
      {changes.length > 0 && <Changes changes={changes} done={done} />}
      {overlaps.length > 0 && (
        <Notice
          tone="warn"
          title={`${formatCount(overlaps.length, "place")} ${done ? "where two changed the same" : "where something was changed since"}`}
        >
          <p>
            {done
              ? "Both are kept: look through them and leave what you want."
              : "Both will be kept, marked in the file, so that nothing is lost."}
          </p>
          <Overlaps overlaps={overlaps} done={done} into={into} />
        </Notice>
      )}
    </div>
  );
}

function Changes({ changes, done }: { changes: readonly Change[]; done: boolean }) {
  return (
    <div>
      <p>{done ? "What came of it:" : "What would come of it:"}</p>
      <ul className="outcome-list">
        {changes.slice(0, maxListed).map((change) => (
          <li key={change.path}>{describeChange(change)}</li>
        ))}
        {changes.length > maxListed && <li className="faint">and {changes.length - maxListed} more</li>}
      </ul>
    </div>
  );
}

function Overlaps({ overlaps, done, into }: { overlaps: readonly Overlap[]; done: boolean; into: string | undefined }) {
  const { to } = useWorkspace();
  const buildFileAddress = (path: string, line?: number) =>
    to({
      show: "files",
      path,
      ...(line === undefined ? {} : { line }),
      ...(into === undefined ? {} : { branch: into }),
    });
  return (
    <ul className="outcome-list">
      {overlaps.slice(0, maxListed).map(({ path, line, mine, theirs, kept, reason }, index) => {
        const words = line === undefined ? path : `${path}, line ${line}`;
        return (
          <li key={index}>
            {done ? <Link href={buildFileAddress(path, line)}>{words}</Link> : <strong>{words}</strong>}: {reason}
            {kept !== undefined && (
              <> The other one is {done ? <Link href={buildFileAddress(kept)}>{kept}</Link> : kept}.</>
            )}
            <ConflictSide words={done ? "What was there" : "What is there now"} text={mine} />
            <ConflictSide words={done ? "What came beside it" : "What would come beside it"} text={theirs} />
          </li>
        );
      })}
      {overlaps.length > maxListed && <li className="faint">and {overlaps.length - maxListed} more</li>}
    </ul>
  );
}

function ConflictSide({ words, text }: { words: string; text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <figure className="overlap">
      <figcaption>{words}</figcaption>
      <pre className="text" tabIndex={0}>
        {sanitizeText(text.replace(/\n$/, "")) || "(nothing)"}
      </pre>
    </figure>
  );
}
