import { readField } from "../call/input.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { describeWhen } from "./describe-when.ts";
import { FileResult, InputFacts } from "./file-result.tsx";

export const card = defineCard<{ when: string }>({
  name: "sleep",
  tools: ["sleepUntil"],
  icon: "hourglass",
  parse(input) {
    const when = describeWhen(readField(input, "when"));
    return when === undefined ? undefined : { when };
  },
  hint: ({ when }) => when,
  Body: SleepBody,
});

function SleepBody({ input: { when }, call: { result }, blobs }: CardBodyProps<{ when: string }>) {
  return (
    <>
      <InputFacts of={[["Until", when]]} />
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
