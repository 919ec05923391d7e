import { FileInput } from "../call/input.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult, getFileState, InputFacts } from "./file-result.tsx";

interface ReadInput {
  path: string;
  /** “40–89”, or “” for the whole file. */
  lines: string;
}

export const card = defineCard<ReadInput>({
  name: "read",
  tools: ["readFile", "read_file"],
  icon: "file",
  parse(input) {
    const fields = FileInput.from(input);
    const path = fields?.readText("path");
    if (!fields || path === undefined) return undefined;
    return { path, lines: formatLines(fields.readCount("offset"), fields.readCount("limit")) };
  },
  hint: ({ path, lines }) => (lines ? `${path}, lines ${lines}` : path),
  state: getFileState,
  Body: ReadBody,
});

function formatLines(offset: number | undefined, limit: number | undefined): string {
  if (offset === undefined && limit === undefined) return "";
  const first = offset ?? 1;
  return `${first}–${limit === undefined ? "" : first + limit - 1}`;
}

function ReadBody({ input: { path, lines }, call: { result }, blobs }: CardBodyProps<ReadInput>) {
  return (
    <>
      <InputFacts
        of={[
          ["File", path],
          ["Lines", lines],
        ]}
      />
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
