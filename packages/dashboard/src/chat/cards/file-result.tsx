import type { Call, Result } from "@thinkery/sdk/react";
import { DescriptionList } from "../../parts/description-list.tsx";
import { Part, DownloadLink } from "../call/part.tsx";
import { sanitizeText } from "../call/sanitize-text.ts";
import type { CardState } from "./define-card.tsx";

/** What a file tool was asked for; empty values are left out. */
export function InputFacts({ of }: { of: readonly (readonly [name: string, value: string])[] }) {
  return (
    <DescriptionList
      of={of
        .filter(([, value]) => value !== "")
        .map(([name, value]) => [name, <span className="mono">{sanitizeText(value)}</span>] as const)}
    />
  );
}

/** What a file tool answered. */
export function FileResult({ result, blobs }: { result: Result | undefined; blobs: string }) {
  if (!result) return null;
  return (
    <Part
      title={result.failed ? "What went wrong" : "Output"}
      {...(result.failed ? { tone: "bad" } : {})}
      more={<DownloadLink result={result} blobs={blobs} />}
    >
      {sanitizeText(result.output) || "(nothing)"}
    </Part>
  );
}

/** File tools refuse with `invalid_input` also where only the file is missing or was changed, so it is not named. */
export function getFileState({ result }: Call): CardState | undefined {
  return result?.failed && result.errorCode === "invalid_input" ? { text: "failed" } : undefined;
}
