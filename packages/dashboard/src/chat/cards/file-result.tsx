import type { Call, Result } from "@thinkery/sdk/react";
import { Particulars } from "../../parts/particulars.tsx";
import { Part, Whole } from "../call/part.tsx";
import { plain } from "../call/plain.ts";
import type { CardState } from "./define-card.tsx";

/** What a file tool was asked for; empty values are left out. */
export function InputFacts({ of }: { of: readonly (readonly [name: string, value: string])[] }) {
  return (
    <Particulars
      of={of
        .filter(([, value]) => value !== "")
        .map(([name, value]) => [name, <span className="mono">{plain(value)}</span>] as const)}
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
      more={<Whole result={result} blobs={blobs} />}
    >
      {plain(result.output) || "(nothing)"}
    </Part>
  );
}

/** File tools refuse with `invalid_input` also where only the file is missing or was changed, so it is not named. */
export function fileState({ result }: Call): CardState | undefined {
  return result?.failed && result.trouble === "invalid_input" ? { text: "failed" } : undefined;
}
