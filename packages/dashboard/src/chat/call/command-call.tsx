import type { Call } from "@thinkery/sdk/react";
import { textIn } from "./code-call.tsx";
import { endedIn, troubleTitle } from "./outcome.ts";
import { Part, Whole } from "./part.tsx";
import { drawn, plain } from "./plain.ts";

/** A command of a model, as in a terminal: what was typed, what was written, how it ended. */
export function CommandCall({ call: { input, result }, blobs }: { call: Call; blobs: string }) {
  const { written, ending } = endedIn(result?.output ?? "");
  return (
    <>
      <div>
        <p className="call-part">Command{(input as { background?: unknown }).background === true && ", in the background"}</p>
        <pre className="text typed" tabIndex={0} dir="ltr">
          <span aria-hidden="true">$ </span>
          {plain(textIn(input, "command") ?? "")}
        </pre>
      </div>
      {result && (
        <Part
          title={result.failed ? troubleTitle(result) : "Output"}
          {...(result.failed ? { tone: "bad" } : {})}
          more={
            <>
              {ending && <p className="call-ending">It ended with {ending.startsWith("exit") ? <strong>{ending}</strong> : "a signal"}.</p>}
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

export function isCommand(input: unknown): boolean {
  return textIn(input, "command") !== undefined;
}
