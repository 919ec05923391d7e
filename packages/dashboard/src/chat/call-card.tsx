import type { Call } from "@thinkery/sdk/react";
import { useMemo, useState } from "react";
import { Fallback } from "../parts/fallback.tsx";
import { Icon } from "../parts/icon.tsx";
import { useCallWait } from "../waits/waits-context.ts";
import { showControlChars } from "./blocks.ts";
import { CapabilityList } from "./call/capabilities.tsx";
import { ChangedFiles } from "./call/changed-files.tsx";
import { LiveOutput } from "./call/live.tsx";
import { parseProgress, formatElapsed, describeError } from "./call/outcome.ts";
import { findCard } from "./cards/cards.ts";
import { matchPlain } from "./cards/plain-card.tsx";

type State = "running" | "waiting" | "done" | "failed" | "abandoned";

const stateLabels: Record<State, string> = {
  running: "running…",
  waiting: "waiting for result",
  done: "done",
  failed: "failed",
  abandoned: "not finished",
};

const emptyLabels: Partial<Record<State, string>> = {
  running: "No output yet.",
  waiting: "The result will be reported later.",
  abandoned: "The turn ended before the tool returned a result.",
};

/** Maximum calls made by code that are shown: in an open card, and in a closed one while it runs. */
const maxShownRows = 20;
const maxPreviewRows = 3;

interface CallCardProps {
  call: Call;
  agency: string;
  agent: string;
  /** Whether its turn waits for results reported later. */
  paused: boolean;
  blobs: string;
}

/** A tool call in one line, or with its input and output when open. Progress is shown either way. */
export function CallCard({ call, agency, agent, paused, blobs }: CallCardProps) {
  const [open, setOpen] = useState(false);
  const wait = useCallWait(call.id);
  const state = getCallState(call, paused || wait !== undefined);
  const { result, capabilities = [] } = call;
  const { waiting, output } = parseProgress(call.progress ?? "");
  const card = useMemo(() => findCard(call), [call]);
  const site = { agency, agent, blobs };
  const hasPreview = !open && (capabilities.length > 0 || waiting !== undefined);
  return (
    <div className="call" data-state={state} data-kind={card.name}>
      <details open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary>
          <Icon name={card.icon} />
          <span className="call-name">{showControlChars(call.name)}</span>
          <span className="call-hint">{card.hint}</span>
          {capabilities.length > 0 && (
            <span className="call-count">{capabilities.length === 1 ? "1 call" : `${capabilities.length} calls`}</span>
          )}
          {result?.ms !== undefined && card.showDuration && (
            <span className="call-duration">{formatElapsed(result.ms)}</span>
          )}
          <span className="call-state" data-tone={card.state?.tone}>
            {card.state?.text ??
              (result?.failed
                ? describeError(result)
                : waiting
                  ? "waiting for a sandbox"
                  : state === "waiting" && wait !== undefined
                    ? showControlChars(wait)
                    : stateLabels[state])}
          </span>
        </summary>
        {/* Only rendered when open, because a result may be long. */}
        {open && (
          <div className="call-body">
            <Fallback render={() => matchPlain(call).render(site)}>{card.render(site)}</Fallback>
            {capabilities.length > 0 && (
              <div>
                <p className="call-part">Calls</p>
                <CapabilityList of={capabilities} max={maxShownRows} />
              </div>
            )}
            {!result && !output && (
              <p className="faint">{waiting ?? (wait === undefined ? emptyLabels[state] : "No result yet.")}</p>
            )}
          </div>
        )}
      </details>
      {call.changed && <ChangedFiles agency={agency} agent={agent} changed={call.changed} open={open} />}
      {state === "running" && (hasPreview || output) && (
        <div className="call-progress">
          {hasPreview && capabilities.length > 0 && (
            <CapabilityList of={capabilities.slice(-maxPreviewRows)} max={maxPreviewRows} />
          )}
          {hasPreview && waiting && <p className="faint">{waiting}</p>}
          {output && <LiveOutput name={call.name} text={output} />}
        </div>
      )}
    </div>
  );
}

function getCallState({ result, abandoned }: Call, paused: boolean): State {
  if (result) return result.failed ? "failed" : "done";
  if (abandoned) return "abandoned";
  return paused ? "waiting" : "running";
}
