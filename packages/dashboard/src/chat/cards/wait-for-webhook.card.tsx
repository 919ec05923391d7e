import { formatDuration } from "../../parts/duration.ts";
import { readField, readTextField } from "../call/input.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult, InputFacts } from "./file-result.tsx";

interface WebhookInput {
  name: string;
  timeout: string;
}

export const card = defineCard<WebhookInput>({
  name: "webhook",
  tools: ["waitForWebhook"],
  icon: "webhook",
  parse(input) {
    const name = readTextField(input, "name");
    const seconds = readField(input, "timeoutSeconds");
    return name === undefined
      ? undefined
      : { name, timeout: typeof seconds === "number" && Number.isFinite(seconds) ? formatDuration(seconds) : "" };
  },
  hint: ({ name }) => name,
  Body: WebhookBody,
});

function WebhookBody({ input: { name, timeout }, call: { result }, blobs }: CardBodyProps<WebhookInput>) {
  return (
    <>
      <InputFacts
        of={[
          ["Webhook", name],
          ["At most", timeout],
        ]}
      />
      <FileResult result={result} blobs={blobs} />
    </>
  );
}
