import { readField, readTextField } from "../call/input.ts";
import { Part } from "../call/part.tsx";
import { sanitizeText } from "../call/sanitize-text.ts";
import { FormattedText } from "../formatted-text.tsx";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult } from "./file-result.tsx";
import { formatInput } from "./plain-card.tsx";

interface QuestionInput {
  prompt: string;
  schema: unknown;
}

export const card = defineCard<QuestionInput>({
  name: "question",
  tools: ["askUser"],
  icon: "question",
  parse(input) {
    const prompt = readTextField(input, "prompt");
    return prompt === undefined ? undefined : { prompt, schema: readField(input, "schema") };
  },
  hint: ({ prompt }) => prompt,
  state: ({ result }) => (result && !result.failed ? { text: "answered" } : undefined),
  Body: QuestionBody,
});

/** A question of the agent and its answer. The form is below the card while the question is open. */
function QuestionBody({ input: { prompt, schema }, call: { result }, blobs }: CardBodyProps<QuestionInput>) {
  return (
    <>
      <div>
        <p className="call-part">Question</p>
        <FormattedText text={prompt} />
      </div>
      {schema !== undefined && <Part title="Form of the answer">{sanitizeText(formatInput(schema))}</Part>}
      <FileResult result={result} blobs={blobs} title="Answer" />
    </>
  );
}
