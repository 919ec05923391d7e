import type { Change, Merged, Overlap } from "@thinkery/sdk";
import { Link } from "../../frame/link.tsx";
import { counted } from "../../parts/amount.ts";
import { Notice } from "../../parts/notice.tsx";
import { useWorkspace } from "../open-workspace.tsx";
import { changeLine } from "./words.ts";

const mostListed = 20;

/** What comes of a revert or a merge: `done` says whether it has happened. */
export function OutcomeOf({ merged: { changes, overlaps }, done, into }: { merged: Merged; done: boolean; into?: string | undefined }) {
  if (changes.length === 0 && overlaps.length === 0) return <p>There is nothing to change: it is all as it would be.</p>;
  return (
    <div className="outcome">
      {changes.length > 0 && <Changes changes={changes} done={done} />}
      {overlaps.length > 0 && (
        <Notice tone="warn" title={`${counted(overlaps.length, "place")} ${done ? "where two changed the same" : "where something was changed since"}`}>
          <p>{done ? "Both are kept: look through them and leave what you want." : "Both will be kept, marked in the file, so that nothing is lost."}</p>
          <Overlaps overlaps={overlaps} linked={done} into={into} />
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
        {changes.slice(0, mostListed).map((change) => (
          <li key={change.path}>{changeLine(change)}</li>
        ))}
        {changes.length > mostListed && <li className="faint">and {changes.length - mostListed} more</li>}
      </ul>
    </div>
  );
}

function Overlaps({ overlaps, linked, into }: { overlaps: readonly Overlap[]; linked: boolean; into: string | undefined }) {
  const { to } = useWorkspace();
  const place = (path: string, line?: number) => to({ show: "files", path, ...(line === undefined ? {} : { line }), ...(into === undefined ? {} : { branch: into }) });
  return (
    <ul className="outcome-list">
      {overlaps.slice(0, mostListed).map(({ path, line, mine, theirs, kept, reason }, index) => {
        const words = line === undefined ? path : `${path}, line ${line}`;
        return (
          <li key={index}>
            {linked ? <Link href={place(path, line)}>{words}</Link> : <strong>{words}</strong>}: {reason}
            {kept !== undefined && <> The other one is {linked ? <Link href={place(kept)}>{kept}</Link> : kept}.</>}
            {(mine !== undefined || theirs !== undefined) && (
              <pre className="text overlap" tabIndex={0}>
                {[...prefixed("− ", mine), ...prefixed("+ ", theirs)].join("\n")}
              </pre>
            )}
          </li>
        );
      })}
      {overlaps.length > mostListed && <li className="faint">and {overlaps.length - mostListed} more</li>}
    </ul>
  );
}

function prefixed(sign: string, text: string | undefined): string[] {
  return text === undefined ? [] : text.replace(/\n$/, "").split("\n").map((line) => sign + line);
}
