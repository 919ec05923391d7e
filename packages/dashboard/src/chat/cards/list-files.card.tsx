import { FileInput } from "../call/input.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult, getFileState, InputFacts } from "./file-result.tsx";

interface ListInput {
  folder: string;
}

export const card = defineCard<ListInput>({
  name: "list",
  tools: ["listFiles", "ls"],
  icon: "folder",
  parse(input) {
    const path = FileInput.from(input)?.readText("path", "");
    return path === undefined ? undefined : { folder: path || "all files" };
  },
  hint: ({ folder }) => folder,
  state: getFileState,
  Body: ListBody,
});

function ListBody({ input: { folder }, call: { result }, blobs }: CardBodyProps<ListInput>) {
  return (
    <>
      <InputFacts of={[["Folder", folder]]} />
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
