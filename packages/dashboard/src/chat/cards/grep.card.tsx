import { FileInput } from "../call/input.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult, getFileState, InputFacts } from "./file-result.tsx";

interface GrepInput {
  pattern: string;
  path: string;
  glob: string;
  ignoreCase: boolean;
}

export const card = defineCard<GrepInput>({
  name: "grep",
  tools: ["grep"],
  icon: "search",
  parse(input) {
    const fields = FileInput.from(input);
    const pattern = fields?.readText("pattern");
    const path = fields?.readText("path", "");
    const glob = fields?.readText("glob", "");
    if (!fields || pattern === undefined || path === undefined || glob === undefined) return undefined;
    return { pattern, path, glob, ignoreCase: fields.readFlag("ignoreCase") };
  },
  hint: ({ pattern, path, glob }) => [pattern, path && `in ${path}`, glob && `(${glob})`].filter(Boolean).join(" "),
  state: getFileState,
  Body: GrepBody,
});

function GrepBody({ input: { pattern, path, glob, ignoreCase }, call: { result }, blobs }: CardBodyProps<GrepInput>) {
  return (
    <>
      <InputFacts
        of={[
          ["Pattern", pattern],
          ["Options", ignoreCase ? "ignore case" : ""],
          ["Folder", path],
          ["Files", glob],
        ]}
      />
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
