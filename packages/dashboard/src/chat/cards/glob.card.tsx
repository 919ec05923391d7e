import { FileInput } from "../call/input.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult, getFileState, InputFacts } from "./file-result.tsx";

interface GlobInput {
  pattern: string;
}

export const card = defineCard<GlobInput>({
  name: "glob",
  tools: ["glob"],
  icon: "search",
  parse(input) {
    const pattern = FileInput.from(input)?.readText("pattern");
    return pattern === undefined ? undefined : { pattern };
  },
  hint: ({ pattern }) => pattern,
  state: getFileState,
  Body: GlobBody,
});

function GlobBody({ input: { pattern }, call: { result }, blobs }: CardBodyProps<GlobInput>) {
  return (
    <>
      <InputFacts of={[["Pattern", pattern]]} />
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
