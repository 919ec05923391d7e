import { findPathIssue } from "@thinkery/sdk";
import { documentsAddress } from "../../frame/files-place.ts";
import { Link } from "../../frame/link.tsx";
import { buildPath } from "../../frame/navigation.ts";
import { FileInput, isEmptyObject } from "../call/input.ts";
import { sanitizeText } from "../call/sanitize-text.ts";
import { Source } from "../call/source.tsx";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult, getFileState } from "./file-result.tsx";

interface DocumentInput {
  /** Undefined for a list of all documents. */
  name: string | undefined;
  content: string | undefined;
}

export const card = defineCard<DocumentInput>({
  name: "team-doc",
  tools: ["team_doc_read", "team_doc_write", "team_doc_append", "team_doc_create", "team_doc_list"],
  icon: "file",
  parse(input) {
    if (isEmptyObject(input)) return { name: undefined, content: undefined };
    const fields = FileInput.from(input);
    const name = fields?.readText("name", fields.readText("path"));
    return name === undefined ? undefined : { name, content: fields?.readText("content") };
  },
  hint: ({ name }) => name ?? "all documents",
  state: getFileState,
  Body: DocumentBody,
});

/** A link to the document, and what was written or read. */
function DocumentBody({ input: { name, content }, call: { result }, agency, blobs }: CardBodyProps<DocumentInput>) {
  const path = name !== undefined && !findPathIssue(name) ? name : undefined;
  const place = { show: "files" as const, ...(path === undefined ? {} : { path }) };
  return (
    <>
      <p>
        <Link href={buildPath(agency) + documentsAddress.build(place)}>
          {path === undefined ? "All documents" : sanitizeText(path)}
        </Link>
      </p>
      {content !== undefined && content !== "" && <Source files={[[name ?? "", content]]} title="Content" />}
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
