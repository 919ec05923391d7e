import type { Change, MergeResponse, Overlap } from "@thinkery/sdk";
import { sanitizeText } from "../../chat/call/sanitize-text.ts";
import { Link } from "../../frame/link.tsx";
import { formatCount } from "../../parts/amount.ts";
import { Notice } from "../../parts/notice.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { describeChange } from "./version-text.ts";

const maxListed = 20;

/** The result of a revert or merge, or its preview unless `done`. */
export function MergeOutcome({
  merged: { changes, overlaps },
  done,
  into,
}: {
  merged: MergeResponse;
  done: boolean;
  into?: string | undefined;
}) {
  if (changes.length === 0 && overlaps.length === 0) return <p>Nothing to change.</p>;
  return (
    <div className="outcome">
      {changes.length > 0 && <Changes changes={changes} done={done} />}
      {overlaps.length > 0 && (
        <Notice tone="warn" title={formatCount(overlaps.length, "conflict")}>
          <p>
            {done
              ? "Both sides were kept. Review them and keep what you want."
              : "Both sides will be kept, marked in the file."}
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
      <p>{done ? "Done" : "Preview"}</p>
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
      {overlaps.slice(0, maxListed).map(({ path, line, mine, theirs, conflictCopy, reason }, index) => {
        const label = line === undefined ? path : `${path}, line ${line}`;
        return (
          <li key={index}>
            {done ? <Link href={buildFileAddress(path, line)}>{label}</Link> : <strong>{label}</strong>}: {reason}
            {conflictCopy !== undefined && (
              <>
                {" "}
                Other version: {done ? <Link href={buildFileAddress(conflictCopy)}>{conflictCopy}</Link> : conflictCopy}
              </>
            )}
            <ConflictSide label="Current" text={mine} />
            <ConflictSide label="Incoming" text={theirs} />
          </li>
        );
      })}
      {overlaps.length > maxListed && <li className="faint">and {overlaps.length - maxListed} more</li>}
    </ul>
  );
}

function ConflictSide({ label, text }: { label: string; text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <figure className="overlap">
      <figcaption>{label}</figcaption>
      <pre className="text" tabIndex={0}>
        {sanitizeText(text.replace(/\n$/, "")) || "(empty)"}
      </pre>
    </figure>
  );
}
