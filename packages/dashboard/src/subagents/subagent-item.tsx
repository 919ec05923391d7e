import { formatSubagentStatus, type Subagent, type SubagentStream } from "@thinkery/sdk";
import { useState } from "react";
import { call } from "../api/host.ts";
import { getErrorMessage, useHasScope } from "../api/login.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { announce } from "../frame/announce.tsx";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import type { Ask } from "../inbox/use-asks.ts";
import { formatAmount, formatCost, formatSeconds } from "../parts/amount.ts";
import { useNow } from "../parts/date-time.tsx";
import { describeWork, isWorking } from "./describe-work.ts";
import { MergeReport } from "./merge-report.tsx";
import { SubagentLink } from "./subagent-link.tsx";

interface SubagentItemProps {
  agency: string;
  /** Path of the agent that it works for. */
  agent: string;
  subagent: Subagent;
}

/** A sub-agent in a list: what it works on, how far it is, and a way to cancel it. */
export function SubagentItem({
  stream,
  ask,
  ...props
}: SubagentItemProps & {
  /** What it does right now, if it streams. */
  stream: SubagentStream | undefined;
  /** Set if it, or a sub-agent of its own, waits for a person. */
  ask: Ask | undefined;
}) {
  const { agency, agent, subagent } = props;
  const { agentType, facetName, status } = subagent;
  const canChat = useHasScope("chat", agency);
  const work = describeWork(subagent, stream);
  return (
    <li data-status={status} data-subagent={facetName} data-ask={ask?.kind}>
      <span className="todo-mark" aria-hidden="true" />
      <div className="task-body">
        <SubagentLink agency={agency} agent={agent} subagent={subagent} />{" "}
        <span className="task-status">
          {agentType},{" "}
          {ask ? `waiting for ${ask.kind === "approval" ? "approval" : "an answer"}` : formatSubagentStatus(subagent)}
        </span>{" "}
        {ask && (
          <Link className="subagent-ask" href={buildPath(agency, ask.agent)}>
            {ask.kind === "approval" ? "Review" : "Answer"}
          </Link>
        )}
        <SubagentFacts subagent={subagent} />
        {work !== "" && !ask && <p className="subagent-work">{sanitizeText(work)}</p>}
        {stream && stream.text !== "" && <p className="subagent-text">{sanitizeText(stream.text)}</p>}
        <MergeReport agency={agency} agent={agent} subagent={subagent} />
        {canChat && isWorking(subagent) && <CancelButton {...props} />}
      </div>
    </li>
  );
}

/** How long it has worked, and what it has spent as far as its parent knows. */
function SubagentFacts({ subagent: { startedAt, completedAt, usage } }: { subagent: Subagent }) {
  const now = useNow(completedAt === undefined ? 1000 : 60_000);
  if (startedAt === undefined) return null;
  const facts = [formatSeconds(((completedAt ?? now) - startedAt) / 1000)];
  if (usage) facts.push(formatAmount("tokens", usage.inputTokens + usage.outputTokens), formatCost(usage.costUsd));
  return <p className="subagent-facts">{facts.join(" · ")}</p>;
}

function CancelButton({ agency, agent, subagent: { facetName, title } }: SubagentItemProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string>();

  const cancel = async () => {
    setBusy(true);
    setError(undefined);
    try {
      // Its conversation stays.
      const { status } = await call("cancelTurn", { params: { agency, agent: `${agent}/${facetName}` }, body: {} });
      announce(`Sub-agent “${title}” ${status === "canceled" ? "canceled" : "had already finished"}.`);
    } catch (failure) {
      setError(getErrorMessage(failure));
    } finally {
      setBusy(false);
    }
  };

  return (
    <p className="task-actions">
      <button
        type="button"
        className="text-button"
        aria-label={`Cancel ${title}`}
        disabled={busy}
        onClick={() => void cancel()}
      >
        Cancel
      </button>
      {error && <span role="alert">{error}</span>}
    </p>
  );
}
