import { isEmptyObject, readField, readTextField } from "../call/input.ts";
import { parseOutput, readItems } from "../call/parse-output.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { FileResult } from "./file-result.tsx";
import { TeamMessage } from "./team-message.tsx";

interface ReadInput {
  channel: string;
  since: string | undefined;
  thread: string | undefined;
}

export const card = defineCard<ReadInput>({
  name: "channel-read",
  tools: ["channel_read"],
  icon: "channel",
  parse(input) {
    const [channel, since, thread] = ["channel", "since", "thread"].map((name) => readTextField(input, name));
    const isKnown = isEmptyObject(input) || typeof readField(input, "limit") === "number";
    if (!isKnown && channel === undefined && since === undefined && thread === undefined) return undefined;
    return { channel: channel ?? "general", since, thread };
  },
  hint: ({ channel, since, thread }) =>
    [channel.startsWith("@") ? channel : `#${channel}`, thread && `thread ${thread}`, since && `since ${since}`]
      .filter(Boolean)
      .join(", "),
  Body: ReadBody,
});

/** The messages that the agent read. */
function ReadBody({ input: { channel }, call: { result }, agency, blobs }: CardBodyProps<ReadInput>) {
  const messages = readItems(parseOutput(result), "messages");
  if (!messages) return <FileResult result={result} blobs={blobs} />;
  if (messages.length === 0) return <p className="faint">No messages</p>;
  return (
    <ul className="team-messages">
      {messages.map((message, index) => (
        <TeamMessage key={index} agency={agency} message={message} channel={channel} />
      ))}
    </ul>
  );
}
