import type { Call } from "@thinkery/sdk/react";
import { useMemo, useState } from "react";
import { Fallback } from "../parts/fallback.tsx";
import { Icon } from "../parts/icon.tsx";
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
  waiting: "waits for its answer",
  done: "done",
  failed: "failed",
  abandoned: "not finished",
};

const emptyLabels: Partial<Record<State, string>> = {
  running: "No answer yet.",
  waiting: "It has begun something whose answer is reported later.",
  abandoned: "The turn ended before the tool answered.",
};

/** So many of the calls that code makes are shown: of a card that is open, and of one that is not while it runs. */
const maxShownRows = 20;
const maxPreviewRows = 3;

interface CallCardProps {
  call: Call;
  agency: string;
  agent: string;
  /** Its turn waits for reports. */
  paused: boolean;
  blobs: string;
}

/** A tool call in one line; opened, with what went in and what came out. What it does right now is shown either way. */
export function CallCard({ call, agency, agent, paused, blobs }: CallCardProps) {
  const [open, setOpen] = useState(false);
  const state = getCallState(call, paused);
  const { result, capabilities = [] } = call;
  const { waits, written } = parseProgress(call.progress ?? "");
  const card = useMemo(() => findCard(call), [call]);
  const site = { agency, agent, blobs };
  const glimpse = !open && (capabilities.length > 0 || waits !== undefined);
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
            <span className="call-took">{formatElapsed(result.ms)}</span>
          )}
          <span className="call-state" data-tone={card.state?.tone}>
            {card.state?.text ??
              (result?.failed ? describeError(result) : waits ? "waits for a sandbox" : stateLabels[state])}
          </span>
        </summary>
        {/* What nobody looks at need not be drawn: a result may be long. */}
        {open && (
          <div className="call-body">
            <Fallback to={() => matchPlain(call).render(site)}>{card.render(site)}</Fallback>
            {capabilities.length > 0 && (
              <div>
                <p className="call-part">What it called</p>
                <CapabilityList of={capabilities} most={maxShownRows} />
              </div>
            )}
            {!result && !written && <p className="faint">{waits ?? emptyLabels[state]}</p>}
          </div>
        )}
      </details>
      {call.changed && <ChangedFiles agency={agency} agent={agent} changed={call.changed} open={open} />}
      {state === "running" && (glimpse || written) && (
        <div className="call-now">
          {glimpse && capabilities.length > 0 && (
            <CapabilityList of={capabilities.slice(-maxPreviewRows)} most={maxPreviewRows} />
          )}
          {glimpse && waits && <p className="faint">{waits}</p>}
          {written && <LiveOutput name={call.name} text={written} />}
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
