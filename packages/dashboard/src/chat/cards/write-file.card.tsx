import { useState } from "react";
import { formatCount } from "../../parts/amount.ts";
import { FileInput } from "../call/input.ts";
import { splitLines } from "../call/line-diff.ts";
import { Source } from "../call/source.tsx";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult, getFileState } from "./file-result.tsx";

interface WriteInput {
  path: string;
  content: string;
}

/** Lines shown at first; the rest is shown on demand. */
const initialLines = 200;

export const card = defineCard<WriteInput>({
  name: "write",
  tools: ["writeFile", "write_file"],
  icon: "file",
  parse(input) {
    const fields = FileInput.from(input);
    const path = fields?.readText("path");
    const content = fields?.readText("content");
    return path === undefined || content === undefined ? undefined : { path, content };
  },
  hint: ({ path }) => path,
  state: getFileState,
  Body: WriteBody,
});

/** The content passed to the tool. */
function WriteBody({ input: { path, content }, call: { result }, blobs }: CardBodyProps<WriteInput>) {
  const [all, showAll] = useState(false);
  const lines = splitLines(content);
  const shown = all || lines.length <= initialLines * 1.25 ? lines : lines.slice(0, initialLines);
  return (
    <>
      {lines.length > 0 ? (
        <div>
          <Source files={[[path, shown.join("\n")]]} title={`Content, ${formatCount(lines.length, "line")}`} />
          {shown.length < lines.length && (
            <button type="button" className="text-button" onClick={() => showAll(true)}>
              Show {lines.length - shown.length} more lines
            </button>
          )}
        </div>
      ) : (
        <p className="faint">Empty file</p>
      )}
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
