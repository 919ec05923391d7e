import type { Call } from "@thinkery/sdk/react";
import { readField, readTextField } from "../call/input.ts";
import { type CardBodyProps, type CardState, defineCard } from "./define-card.tsx";
import { FileResult, InputFacts } from "./file-result.tsx";

interface TaskInput {
  facts: [name: string, value: string][];
  hint: string;
}

export const card = defineCard<TaskInput>({
  name: "task",
  tools: ["createSubtask", "completeTask"],
  icon: "hourglass",
  parse(input) {
    const [title, id] = [readTextField(input, "title"), readTextField(input, "taskId")];
    const subject = title ?? id;
    if (subject === undefined) return undefined;
    const [type, status] = [readTextField(input, "type"), readTextField(input, "status")];
    return {
      hint: [subject, type && `(${type})`, status && status !== "complete" && `→ ${status}`].filter(Boolean).join(" "),
      facts: [
        ["Title", title ?? ""],
        ["Task", id ?? ""],
        ["Type", type ?? ""],
        ["Status", status ?? ""],
        ["Description", readTextField(input, "description") ?? ""],
        ["After", listTexts(readField(input, "dependencies")).join(", ")],
        ["Below", readTextField(input, "parentId") ?? ""],
        ["Result", readTextField(input, "result") ?? ""],
        ["Error", readTextField(input, "error") ?? ""],
      ],
    };
  },
  hint: ({ hint }) => hint,
  state: getTaskState,
  Body: TaskBody,
});

const listTexts = (value: unknown) =>
  Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];

/** A limit or a typo is not a failure of the tool. */
function getTaskState({ result }: Call): CardState | undefined {
  return result?.failed ? { text: "refused" } : undefined;
}

function TaskBody({ input: { facts }, call: { result }, blobs }: CardBodyProps<TaskInput>) {
  return (
    <>
      <InputFacts of={facts} />
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
