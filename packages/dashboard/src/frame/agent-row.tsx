import { formatSubagentStatus, type SubagentSummary, type TeamAgent } from "@thinkery/sdk";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Icon } from "../parts/icon.tsx";
import { isWorking } from "../subagents/describe-work.ts";
import { describeAgentState, statusTones } from "../team/describe-agent.ts";
import { Link } from "./link.tsx";
import { buildPath } from "./navigation.ts";

interface AgentRowProps {
  agency: string;
  /** Path of the agent, or of a sub-agent. */
  path: string;
  /** Name and status of a sub-agent; an agent has none. */
  subagent?: SubagentSummary;
  subagents?: readonly SubagentSummary[] | undefined;
  /** What an agent does, if its agency is watched. */
  state?: TeamAgent | undefined;
  /** Path of the agent that is shown on the page, if it is one of this agency. */
  current: string | undefined;
}

/** An agent in the tree, with its sub-agents: all that are listed if it is the current one, otherwise those that work. */
export function AgentRow({ agency, path, subagent, subagents = [], state, current }: AgentRowProps) {
  const isAbove = current !== undefined && current.startsWith(`${path}/`);
  const isCurrent = current === path;
  const shown = subagents.filter((child) => isCurrent || isAbove || hasWorking(child));
  const name = subagent ? sanitizeText(subagent.title) : path;
  return (
    <li>
      <div className="tree-row" data-current={isCurrent || (isAbove && shown.length === 0) || undefined}>
        <Link
          className="tree-link"
          href={buildPath(agency, path)}
          aria-current={isCurrent ? "page" : isAbove || undefined}
          data-leaf-of={agency}
          {...(subagent ? { title: `${name}: ${formatSubagentStatus(subagent)}`, "data-status": subagent.status } : {})}
        >
          {subagent ? <span className="todo-mark" aria-hidden="true" /> : <Icon name="agent" />}
          <span className="tree-name">{name}</span>
          {subagent && <span className="visually-hidden">, {formatSubagentStatus(subagent)}</span>}
          {state && <StateDot state={state} />}
        </Link>
      </div>
      {shown.length > 0 && (
        <ul className="tree-leaves">
          {shown.map((child) => (
            <AgentRow
              key={child.name}
              agency={agency}
              path={`${path}/${child.name}`}
              subagent={child}
              subagents={child.subagents}
              current={current}
            />
          ))}
        </ul>
      )}
    </li>
  );
}

/** Only if there is something to see: most agents are idle most of the time. */
function StateDot({ state }: { state: TeamAgent }) {
  if (state.status === "idle") return null;
  const text = describeAgentState(state);
  return (
    <>
      <span className="visually-hidden">, {text}</span>
      <span
        className="dot tree-state"
        title={text}
        data-tone={statusTones[state.status]}
        data-busy={state.status === "working" || undefined}
      />
    </>
  );
}

const hasWorking = (subagent: SubagentSummary): boolean =>
  isWorking(subagent) || (subagent.subagents?.some(hasWorking) ?? false);
