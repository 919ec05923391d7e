import type { Subagent, SubagentStreams } from "@thinkery/sdk";
import { useState } from "react";
import { findAsk, useAsks } from "../inbox/use-asks.ts";
import { isWorking } from "./describe-work.ts";
import { SubagentItem } from "./subagent-item.tsx";

const maxShown = 20;

interface SubagentPanelProps {
  agency: string;
  agent: string;
  subagents: readonly Subagent[];
  streams: SubagentStreams;
}

/** The agent's sub-agents next to the conversation. Initially open if there is room. */
export function SubagentPanel({ agency, agent, subagents, streams }: SubagentPanelProps) {
  const [open, setOpen] = useState(() => window.matchMedia("(min-width: 75rem)").matches);
  const [all, setAll] = useState(false);
  const working = subagents.filter(isWorking);
  const asks = useAsks(agency, agent, working.length > 0);
  if (subagents.length === 0) return null;
  // Those that work come first, however many there are that have finished.
  const sorted = [...working, ...subagents.filter((subagent) => !isWorking(subagent))];
  const shown = all ? sorted : sorted.slice(0, maxShown);
  return (
    <details className="todos subagent-panel" open={open} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        Sub-agents{" "}
        <span className="count">
          {working.length > 0 ? `${working.length} of ${subagents.length} working` : subagents.length}
        </span>
      </summary>
      <ul className="task-list">
        {shown.map((subagent) => (
          <SubagentItem
            key={subagent.taskId}
            agency={agency}
            agent={agent}
            subagent={subagent}
            stream={streams[subagent.taskId]}
            ask={isWorking(subagent) ? findAsk(asks, `${agent}/${subagent.facetName}`) : undefined}
          />
        ))}
      </ul>
      {shown.length < sorted.length && (
        <p className="task-panel-more">
          <button type="button" className="text-button" onClick={() => setAll(true)}>
            Show all {sorted.length}
          </button>
        </p>
      )}
    </details>
  );
}
