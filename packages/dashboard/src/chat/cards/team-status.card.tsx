import { readTextField } from "../call/input.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult, InputFacts } from "./file-result.tsx";

interface StatusInput {
  status: string;
  task: string;
}

export const card = defineCard<StatusInput>({
  name: "team-status",
  tools: ["my_status_set"],
  icon: "agent",
  parse(input) {
    const status = readTextField(input, "status");
    return status === undefined ? undefined : { status, task: readTextField(input, "task") ?? "" };
  },
  hint: ({ status }) => status,
  Body: StatusBody,
});

function StatusBody({ input: { status, task }, call: { result }, blobs }: CardBodyProps<StatusInput>) {
  return (
    <>
      <InputFacts
        of={[
          ["Status", status],
          ["Task", task],
        ]}
      />
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
