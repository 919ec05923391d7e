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

/** Calls made by the code of a tool call, latest last. */
export function CapabilityList({ of, max }: { of: readonly Capability[]; max: number }) {
  const [all, showAll] = useState(false);
  const hidden = all ? 0 : Math.max(0, of.length - max);
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
            <span className="capability-result">
              {state === "failed" && <span className="visually-hidden">failed: </span>}
              {shortenHint(error ?? summary ?? "")}
            </span>
            <span className="capability-duration">{ms === undefined ? stateLabels[state] : formatElapsed(ms)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

function shortenHint(text: string): string {
  return sanitizeText(text.length > maxHintChars ? `${text.slice(0, maxHintChars)}…` : text).replaceAll("\n", " ");
}
