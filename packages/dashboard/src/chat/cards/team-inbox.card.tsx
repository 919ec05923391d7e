import { isEmptyObject, readField, readTextField } from "../call/input.ts";
import { parseOutput, readItems } from "../call/parse-output.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";
import { describeWhen } from "./describe-when.ts";
import { FileResult } from "./file-result.tsx";
import { TeamMessage } from "./team-message.tsx";

interface InboxInput {
  hint: string;
}

export const card = defineCard<InboxInput>({
  name: "team-inbox",
  tools: ["my_inbox", "my_inbox_ack", "my_inbox_defer"],
  icon: "inbox",
  parse(input) {
    if (isEmptyObject(input)) return { hint: "messages to handle" };
    const [id, untilText] = [readTextField(input, "id"), readTextField(input, "until")];
    if (id !== undefined) {
      const until = describeWhen(readField(input, "until"));
      return { hint: until === undefined ? id : `${id}, ${until}` };
    }
    const ids = readField(input, "ids");
    if (Array.isArray(ids) && ids.length > 0 && ids.every((one) => typeof one === "string"))
      return { hint: ids.join(", ") };
    return untilText === undefined ? undefined : { hint: `until ${untilText}` };
  },
  hint: ({ hint }) => hint,
  Body: InboxBody,
});

/** What the agent has to handle, or what it acknowledged. */
function InboxBody({ call: { result }, agency, blobs }: CardBodyProps<InboxInput>) {
  const items = readItems(parseOutput(result), "items");
  if (!items) return <FileResult result={result} blobs={blobs} />;
  if (items.length === 0) return <p className="faint">Nothing to handle</p>;
  return (
    <ul className="team-messages">
      {items.map((item, index) => (
        <TeamMessage key={index} agency={agency} message={item} />
      ))}
    </ul>
  );
}
