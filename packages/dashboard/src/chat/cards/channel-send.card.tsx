import { readField, readTextField } from "../call/input.ts";
import { parseOutput } from "../call/parse-output.ts";
import { sanitizeText } from "../call/sanitize-text.ts";
import { FormattedText } from "../formatted-text.tsx";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult, InputFacts } from "./file-result.tsx";
import { MessageLink } from "./team-message.tsx";

interface SendInput {
  message: string;
  channel: string;
  to: readonly string[];
  thread: string;
  priority: string;
}

export const card = defineCard<SendInput>({
  name: "channel-send",
  tools: ["channel_send"],
  icon: "send",
  parse(input) {
    const message = readTextField(input, "message");
    if (message === undefined) return undefined;
    const to = readField(input, "to");
    return {
      message,
      channel: readTextField(input, "channel") ?? "general",
      to: (Array.isArray(to) ? to : [to]).filter((name): name is string => typeof name === "string"),
      thread: readTextField(input, "thread") ?? "",
      priority: readTextField(input, "priority") ?? "",
    };
  },
  hint: ({ channel, message }) => `${channel.startsWith("@") ? channel : `#${channel}`}: ${message}`,
  state: ({ result }) => (result && !result.failed ? { text: "sent" } : undefined),
  Body: SendBody,
});

/** What was written, to whom, and a link to it in its channel. */
function SendBody({ input, call: { result }, agency, blobs }: CardBodyProps<SendInput>) {
  const output = parseOutput(result);
  const id = readTextField(output, "id");
  const unknown = readField(output, "notFound");
  return (
    <>
      <FormattedText text={input.message} />
      <InputFacts
        of={[
          ["To", input.to.join(", ")],
          ["Thread", input.thread],
          ["Priority", input.priority],
        ]}
      />
      {Array.isArray(unknown) && unknown.length > 0 && (
        <p className="warn-text">Nobody is called {unknown.map((name) => sanitizeText(String(name))).join(", ")}.</p>
      )}
      {id === undefined ? (
        <FileResult result={result} blobs={blobs} />
      ) : (
        <p>
          <MessageLink agency={agency} channel={readTextField(output, "channel")} id={id} />
        </p>
      )}
    </>
  );
}
