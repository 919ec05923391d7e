import type { VersionDiff } from "@thinkery/sdk";
import { useMemo, useState } from "react";
import { LineCounts } from "../../chat/call/line-counts.tsx";
import { plain } from "../../chat/call/plain.ts";
import { Link } from "../../frame/link.tsx";
import { bytes } from "../../parts/amount.ts";
import { useWorkspace } from "../open-workspace.tsx";
import { type DiffLine, diffLines } from "./diff-lines.ts";
import { changeLine } from "./words.ts";

type FileDiff = VersionDiff["diffs"][number];

/** So many lines are shown at first, and the rest if somebody wants to see it. */
const mostLines = 60;

/** What a version did to one file. */
export function DiffView({ diff, version }: { diff: FileDiff; version: number }) {
  const { to } = useWorkspace();
  const { path, kind, added, removed } = diff;
  return (
    <section className="diff" aria-label={changeLine(diff)}>
      <header className="diff-head">
        <h3>
          <span className="diff-kind">{kind}</span> {diff.from !== undefined && <span className="faint">{diff.from} → </span>}
          {path}
        </h3>
        {(added !== undefined || removed !== undefined) && <LineCounts added={added ?? 0} removed={removed ?? 0} />}
        {kind !== "delete" && <Link href={to({ show: "files", path, version })}>File as of version {version}</Link>}
      </header>
      {diff.diff ? <Lines diff={diff.diff} /> : <p className="diff-none">{nothingToShow(diff)}</p>}
    </section>
  );
}

const signs: Record<DiffLine["kind"], string> = { hunk: "", same: " ", added: "+", removed: "−", remark: "" };

function Lines({ diff }: { diff: string }) {
  const lines = useMemo(() => diffLines(diff), [diff]);
  const [all, showAll] = useState(false);
  const shown = all || lines.length <= mostLines * 1.25 ? lines : lines.slice(0, mostLines);
  return (
    <>
      <div className="diff-lines" role="region" aria-label="Changed lines" tabIndex={0} dir="ltr">
        <table>
          <tbody>
            {shown.map((line, index) => (
              <tr key={index} data-kind={line.kind}>
                <td className="diff-number">{line.before}</td>
                <td className="diff-number">{line.after}</td>
                <td className="diff-text">
                  <span className="diff-sign">{signs[line.kind]}</span>
                  {line.kind === "added" && <span className="unseen">added: </span>}
                  {line.kind === "removed" && <span className="unseen">removed: </span>}
                  {plain(line.text)}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < lines.length && (
        <button type="button" className="text-button diff-more" onClick={() => showAll(true)}>
          Show {lines.length - shown.length} more lines
        </button>
      )}
    </>
  );
}

function nothingToShow({ kind, before, after }: FileDiff): string {
  if (kind === "move") return "Moved as it was.";
  const sizes = [before, after].map((one) => (one ? bytes(one.size) : undefined));
  if (sizes[0] === undefined) return `${sizes[1] === "0 bytes" ? "An empty file" : `Not text: ${sizes[1] ?? "nothing"}`}.`;
  if (sizes[1] === undefined) return sizes[0] === "0 bytes" ? "It was empty." : `Not text: it had ${sizes[0]}.`;
  return `Not text: ${sizes[0]} before, ${sizes[1]} after.`;
}
