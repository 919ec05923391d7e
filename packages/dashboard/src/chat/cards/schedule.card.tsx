import { readField, readTextField } from "../call/input.ts";
import { Part } from "../call/part.tsx";
import { sanitizeText } from "../call/sanitize-text.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { describeWhen } from "./describe-when.ts";
import { FileResult, InputFacts } from "./file-result.tsx";

interface ScheduleInput {
  when: string;
  message: string;
  timeZone: string;
}

export const card = defineCard<ScheduleInput>({
  name: "schedule",
  tools: ["schedule"],
  icon: "clock",
  parse(input) {
    const when = describeWhen(readField(input, "when"));
    const message = readTextField(input, "input");
    if (when === undefined || message === undefined) return undefined;
    return { when, message, timeZone: readTextField(input, "timeZone") ?? "" };
  },
  hint: ({ when, message }) => `${when}: ${message}`,
  state: ({ result }) => (result && !result.failed ? { text: "scheduled" } : undefined),
  Body: ScheduleBody,
});

function ScheduleBody({ input, call: { result }, blobs }: CardBodyProps<ScheduleInput>) {
  const { when, message, timeZone } = input;
  return (
    <>
      <InputFacts
        of={[
          ["When", when],
          ["Time zone", timeZone],
        ]}
      />
      <Part title="Message">{sanitizeText(message)}</Part>
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
