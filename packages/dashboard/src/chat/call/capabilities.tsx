import type { Capability } from "@thinkery/sdk/react";
import { useState } from "react";
import { formatElapsed } from "./outcome.ts";
import { sanitizeText } from "./sanitize-text.ts";

const stateLabels: Record<Capability["state"], string> = {
  running: "running…",
  done: "done",
  failed: "failed",
  abandoned: "not finished",
};

const maxHintChars = 120;

/** What the code of a call has called, the latest last. */
export function CapabilityList({ of, most }: { of: readonly Capability[]; most: number }) {
  const [all, showAll] = useState(false);
  const hidden = all ? 0 : Math.max(0, of.length - most);
  return (
    <>
      {hidden > 0 && (
        <button type="button" className="text-button" onClick={() => showAll(true)}>
          Show {hidden} earlier {hidden === 1 ? "call" : "calls"}
        </button>
      )}
      <ul className="capabilities">
        {of.slice(hidden).map(({ id, name, input, state, ms, summary, error }) => (
          <li key={id} data-state={state}>
            <span className="call-name">{sanitizeText(name)}</span>
            <span className="capability-hint">{shortenHint(input === "{}" ? "" : input)}</span>
            <span className="capability-came">
              {state === "failed" && <span className="unseen">failed: </span>}
              {shortenHint(error ?? summary ?? "")}
            </span>
            <span className="capability-took">{ms === undefined ? stateLabels[state] : formatElapsed(ms)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function shortenHint(text: string): string {
  return sanitizeText(text.length > maxHintChars ? `${text.slice(0, maxHintChars)}…` : text).replaceAll("\n", " ");
}
