import { readField, readTextField } from "../call/input.ts";
import { indentJson } from "../call/json.ts";
import { getErrorTitle, parseCodeOutput } from "../call/outcome.ts";
import { Part, DownloadLink } from "../call/part.tsx";
import { sanitizeText } from "../call/sanitize-text.ts";
import { Source, type SourceFile } from "../call/source.tsx";
import { type CardBodyProps, defineCard } from "./define-card.tsx";

interface CodeInput {
  code: string;
  files: SourceFile[];
}

export const card = defineCard<CodeInput>({
  name: "code",
  tools: ["executeCode"],
  icon: "prompt",
  showDuration: true,
  parse: parseCode,
  hint: ({ code }) => code,
  Body: CodeBody,
});

function parseCode(input: unknown): CodeInput | undefined {
  const code = readTextField(input, "code");
  if (code === undefined) return undefined;
  const value = readField(input, "modules") ?? {};
  if (typeof value !== "object" || Array.isArray(value)) return undefined;
  const modules = Object.entries(value);
  if (!modules.every((entry): entry is [string, string] => typeof entry[1] === "string")) return undefined;
  const files = [["code", code] as const, ...modules].map(([name, text]): SourceFile => [name, text.trimEnd()]);
  return { code, files };
}

/** Code written by a model, with its result and console output. */
function CodeBody({ input: { files }, call: { result }, blobs }: CardBodyProps<CodeInput>) {
  const { value, console } = parseCodeOutput(result?.output ?? "");
  const download = result && <DownloadLink result={result} blobs={blobs} />;
  return (
    <>
      <Source files={files} />
      {result?.failed && (
        <Part title={getErrorTitle(result)} tone="bad" more={console ? undefined : download}>
          {sanitizeText(value)}
        </Part>
      )}
      {result && !result.failed && (value !== "" || !console) && (
        <Part title="Result" more={console ? undefined : download}>
          {sanitizeText(indentJson(value)) || "(no output)"}
        </Part>
      )}
      {console && (
        <Part title="Console" more={download}>
          {sanitizeText(console)}
        </Part>
      )}
    </>
  );
}
