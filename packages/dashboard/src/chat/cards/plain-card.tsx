import type { Call } from "@thinkery/sdk/react";
import { showControlChars } from "../blocks.ts";
import { Part, DownloadLink } from "../call/part.tsx";
import { type CardBodyProps, type CardMatch, defineCard } from "./define-card.tsx";

const plainCard = defineCard<{ value: unknown }>({
  name: "plain",
  tools: [],
  icon: "tool",
  parse: (value) => ({ value }),
  hint: ({ value }) => describe(value),
  Body: PlainBody,
});

/** Shows any call: its input as JSON, and its output. */
export function matchPlain(call: Call): CardMatch {
  return plainCard.match(call) as CardMatch;
}

/** The first text in the input, or the length of its first list. */
function describe(input: unknown): string {
  const entries = input !== null && typeof input === "object" ? Object.entries(input) : [["", input] as const];
  const text: unknown = entries.find(([, value]) => typeof value === "string")?.[1];
  if (typeof text === "string") return text;
  const [name, list] = entries.find(([, value]) => Array.isArray(value)) ?? [];
  return Array.isArray(list) ? `${name}: ${list.length}` : "";
}

function PlainBody({ call: { input, result }, blobs }: CardBodyProps<unknown>) {
  return (
    <>
      <Part title="Input">{formatInput(input)}</Part>
      {result && (
        <Part title={result.failed ? "Error" : "Output"} more={<DownloadLink result={result} blobs={blobs} />}>
          {showControlChars(result.output) || "(no output)"}
        </Part>
      )}
    </>
  );
}

/** The input of a call as indented JSON. */
export function formatInput(input: unknown): string {
  if (typeof input === "string") return showControlChars(input);
  try {
    return showControlChars(JSON.stringify(input, null, isDeeperThan(maxIndentedLevels, input) ? 0 : 2) ?? "");
  } catch {
    // Nested deeper than the browser's stack allows.
    return "(too deeply nested to display)";
  }
}

/** Deeper input is not indented, because the size of indentation grows with the square of the depth. */
const maxIndentedLevels = 100;

function isDeeperThan(levels: number, value: unknown): boolean {
  if (value === null || typeof value !== "object") return false;
  return levels === 0 || Object.values(value).some((one) => isDeeperThan(levels - 1, one));
}
