import { readField, readTextField } from "../call/input.ts";
import { FormattedText } from "../formatted-text.tsx";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult } from "./file-result.tsx";

interface FeedbackInput {
  message: string;
  rating: number | undefined;
}

export const card = defineCard<FeedbackInput>({
  name: "feedback",
  tools: ["feedback"],
  icon: "person",
  parse(input) {
    const message = readTextField(input, "message");
    const rating = readField(input, "rating");
    return message === undefined ? undefined : { message, rating: typeof rating === "number" ? rating : undefined };
  },
  hint: ({ message, rating }) => (rating === undefined ? message : `${rating} of 5: ${message}`),
  Body: FeedbackBody,
});

/** What the agent tells the people who run its team. */
function FeedbackBody({ input: { message, rating }, call: { result }, blobs }: CardBodyProps<FeedbackInput>) {
  return (
    <>
      <FormattedText text={message} />
      {rating !== undefined && <p className="faint">Rating: {rating} of 5</p>}
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
