import { field, textField } from "../call/input.ts";
import { endedIn, troubleTitle } from "../call/outcome.ts";
import { Part, Whole } from "../call/part.tsx";
import { drawn, plain } from "../call/plain.ts";
import { type CardBodyProps, defineCard } from "./define-card.tsx";

interface CommandInput {
  command: string;
  background: boolean;
}

export const card = defineCard<CommandInput>({
  name: "command",
  tools: ["bash", "sandbox"],
  icon: "prompt",
  showDuration: true,
  parse(input) {
    const command = textField(input, "command");
    return command === undefined ? undefined : { command, background: field(input, "background") === true };
  },
  hint: ({ command }) => `$ ${command.trimStart()}`,
  state({ result }) {
    const ending = result && !result.failed ? endedIn(result.output).ending : undefined;
    return ending === undefined ? undefined : { text: ending, tone: "bad" };
  },
  Body: CommandBody,
});

/** A command as in a terminal: what was typed, what was written, how it ended. */
function CommandBody({ input: { command, background }, call: { result }, blobs }: CardBodyProps<CommandInput>) {
  const { written, ending } = endedIn(result?.output ?? "");
  return (
    <>
      <div>
        <p className="call-part">Command{background && ", in the background"}</p>
        <pre className="text typed" tabIndex={0} dir="ltr">
          <span aria-hidden="true">$ </span>
          {plain(command)}
        </pre>
      </div>
      {result && (
        <Part
          title={result.failed ? troubleTitle(result) : "Output"}
          {...(result.failed ? { tone: "bad" } : {})}
          more={
            <>
              {ending && (
                <p className="call-ending">
                  It ended with {ending.startsWith("exit") ? <strong>{ending}</strong> : "a signal"}.
                </p>
              )}
              <Whole result={result} blobs={blobs} />
            </>
          }
        >
          {drawn(written) || "(nothing)"}
        </Part>
      )}
    </>
  );
}
