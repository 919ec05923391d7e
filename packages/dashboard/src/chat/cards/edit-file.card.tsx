import { useMemo } from "react";
import { DiffTable } from "../call/diff-table.tsx";
import { FileInput } from "../call/input.ts";
import { diffTexts } from "../call/line-diff.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult, getFileState } from "./file-result.tsx";

interface Edit {
  oldString: string;
  newString: string;
  replaceAll: boolean;
}

interface EditInput {
  path: string;
  edits: Edit[];
}

/** Maximum edits shown; a call may have very many. */
const maxEdits = 20;

export const card = defineCard<EditInput>({
  name: "edit",
  tools: ["editFile", "edit_file"],
  icon: "pencil",
  parse: parseEdits,
  hint: ({ path, edits }) => (edits.length === 1 ? path : `${path}, ${edits.length} edits`),
  state: getFileState,
  Body: EditBody,
});

function parseEdits(input: unknown): EditInput | undefined {
  const fields = FileInput.from(input);
  const path = fields?.readText("path");
  const several = fields?.readList("edits") ?? [];
  const edits = (several.length > 0 ? several : [input]).map(parseEdit);
  return path !== undefined && edits.every((edit) => edit !== undefined) ? { path, edits } : undefined;
}

function parseEdit(input: unknown): Edit | undefined {
  const fields = FileInput.from(input);
  const oldString = fields?.readText("oldString");
  const newString = fields?.readText("newString");
  if (!fields || oldString === undefined || newString === undefined) return undefined;
  return { oldString, newString, replaceAll: fields.readFlag("replaceAll") };
}

/** The requested edits as diffs. */
function EditBody({ input: { edits }, call: { result }, blobs }: CardBodyProps<EditInput>) {
  const hidden = edits.length - maxEdits;
  return (
    <>
      {edits.slice(0, maxEdits).map((edit, index) => (
        <EditDiff key={index} edit={edit} title={edits.length > 1 ? `Edit ${index + 1} of ${edits.length}` : "Edit"} />
      ))}
      {hidden > 0 && <p className="faint">and {hidden} more</p>}
      <FileResult result={result} blobs={blobs} />
    </>
  );
}

function EditDiff({ edit: { oldString, newString, replaceAll }, title }: { edit: Edit; title: string }) {
  const lines = useMemo(() => diffTexts(oldString, newString), [oldString, newString]);
  return (
    <div>
      <p className="call-part">
        {title}
        {replaceAll && ", all occurrences"}
      </p>
      <div className="diff">
        <DiffTable lines={lines} />
      </div>
    </div>
  );
}
