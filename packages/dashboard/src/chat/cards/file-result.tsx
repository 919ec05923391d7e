import type { Call, Result } from "@thinkery/sdk/react";
import { DescriptionList } from "../../parts/description-list.tsx";
import { Part, DownloadLink } from "../call/part.tsx";
import { sanitizeText } from "../call/sanitize-text.ts";
import type { CardState } from "./define-card.tsx";

/** The input of a file tool; empty values are omitted. */
export function InputFacts({ of }: { of: readonly (readonly [name: string, value: string])[] }) {
  return (
    <DescriptionList
      of={of
        .filter(([, value]) => value !== "")
        .map(([name, value]) => [name, <span className="mono">{sanitizeText(value)}</span>] as const)}
    />
  );
}

/** The output or error of a file tool. */
export function FileResult({
  result,
  blobs,
  title = "Output",
}: {
  result: Result | undefined;
  blobs: string;
  title?: string;
}) {
  if (!result) return null;
  return (
    <Part
      title={result.failed ? "Error" : title}
      {...(result.failed ? { tone: "bad" } : {})}
      more={<DownloadLink result={result} blobs={blobs} />}
    >
      {sanitizeText(result.output) || "(no output)"}
    </Part>
  );
}

/** File tools also use `invalid_input` if the file is missing or was changed, so the label is just “failed”. */
export function getFileState({ result }: Call): CardState | undefined {
  return result?.failed && result.errorCode === "invalid_input" ? { text: "failed" } : undefined;
}
