import { HostLink } from "../../parts/host-link.tsx";
import { readTextField } from "../call/input.ts";
import { parseOutput } from "../call/parse-output.ts";
import { Source } from "../call/source.tsx";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult, getFileState } from "./file-result.tsx";

interface ResourceInput {
  /** Undefined for a new one. */
  id: string | undefined;
  content: string | undefined;
}

const hashPattern = /^[0-9a-f]{64}$/;

export const card = defineCard<ResourceInput>({
  name: "resource",
  tools: ["resource_create", "resource_read"],
  icon: "file",
  parse(input) {
    const [id, content] = [readTextField(input, "id"), readTextField(input, "content")];
    return id === undefined && content === undefined ? undefined : { id, content };
  },
  hint: ({ id, content = "" }) => id?.slice(0, 12) ?? content,
  state: getFileState,
  Body: ResourceBody,
});

/** A long content, with a link to all of it. */
function ResourceBody({ input: { id, content }, call: { result }, agency, blobs }: CardBodyProps<ResourceInput>) {
  const hash = (id ?? readTextField(parseOutput(result), "id"))?.trim();
  return (
    <>
      {content !== undefined && <Source files={[["", content]]} title="Content" />}
      <FileResult result={result} blobs={blobs} />
      {hash !== undefined && hashPattern.test(hash) && (
        <p>
          <HostLink href={`/agency/${encodeURIComponent(agency)}/resources/${hash}`} newTab>
            Open the resource
          </HostLink>
        </p>
      )}
    </>
  );
}
