import { useState } from "react";
import { sanitizeText } from "./sanitize-text.ts";

/** A line of a diff, with its line numbers before and after if known. */
export interface DiffLine {
  kind: "hunk" | "same" | "added" | "removed" | "remark";
  text: string;
  before?: number;
  after?: number;
}

/** Lines shown at first; the rest is shown on demand. */
const initialLines = 60;

const signs: Record<DiffLine["kind"], string> = { hunk: "", same: " ", added: "+", removed: "−", remark: "" };

export function DiffTable({ lines }: { lines: readonly DiffLine[] }) {
  const [all, showAll] = useState(false);
  const shown = all || lines.length <= initialLines * 1.25 ? lines : lines.slice(0, initialLines);
  const isNumbered = lines.some(({ before, after }) => before !== undefined || after !== undefined);
  return (
    <>
      <div className="diff-lines" role="region" aria-label="Changed lines" tabIndex={0} dir="ltr">
        <table>
          <tbody>
            {shown.map((line, index) => (
              <tr key={index} data-kind={line.kind}>
                {isNumbered && (
                  <>
                    <td className="diff-number">{line.before}</td>
                    <td className="diff-number">{line.after}</td>
                  </>
                )}
                <td className="diff-text">
                  <span className="diff-sign">{signs[line.kind]}</span>
                  {line.kind === "added" && <span className="visually-hidden">added: </span>}
                  {line.kind === "removed" && <span className="visually-hidden">removed: </span>}
                  {sanitizeText(line.text)}
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
