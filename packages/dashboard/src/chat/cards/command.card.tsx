import { readField, readTextField } from "../call/input.ts";
import { parseCommandOutput, getErrorTitle } from "../call/outcome.ts";
import { Part, DownloadLink } from "../call/part.tsx";
import { sanitizeTerminalText, sanitizeText } from "../call/sanitize-text.ts";
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
    const command = readTextField(input, "command");
    return command === undefined ? undefined : { command, background: readField(input, "background") === true };
  },
  hint: ({ command }) => `$ ${command.trimStart()}`,
  state({ result }) {
    const ending = result && !result.failed ? parseCommandOutput(result.output).ending : undefined;
    return ending === undefined ? undefined : { text: ending, tone: "bad" };
  },
  Body: CommandBody,
});

/** A command as in a terminal: input, output and exit status. */
function CommandBody({ input: { command, background }, call: { result }, blobs }: CardBodyProps<CommandInput>) {
  const { output, ending } = parseCommandOutput(result?.output ?? "");
  return (
    <>
      <div>
        <p className="call-part">Command{background && " (background)"}</p>
        <pre className="text typed" tabIndex={0} dir="ltr">
          <span aria-hidden="true">$ </span>
          {sanitizeText(command)}
        </pre>
      </div>
      {result && (
        <Part
          title={result.failed ? getErrorTitle(result) : "Output"}
          {...(result.failed ? { tone: "bad" } : {})}
          more={
            <>
              {ending && (
                <p className="call-ending">
                  {ending.startsWith("exit")
                    ? ending.replace("exit code", "Exited with code")
                    : "Terminated by a signal"}
                </p>
              )}
              <DownloadLink result={result} blobs={blobs} />
            </>
          }
        >
          {sanitizeTerminalText(output) || "(no output)"}
        </Part>
      )}
    </>
  );
}
