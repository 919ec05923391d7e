import type { InboxCounts, TeamAgent } from "@thinkery/sdk";
import { memo } from "react";
import type { Team } from "../api/team/team.ts";
import { sanitizeText } from "../chat/call/sanitize-text.ts";
import { Link } from "../frame/link.tsx";
import { buildPath } from "../frame/navigation.ts";
import { formatCost, formatCount, formatTokens } from "../parts/amount.ts";
import { useNow } from "../parts/date-time.tsx";
import { formatDuration } from "../parts/duration.ts";
import { describeAgentState, needsPerson, statusTones } from "../team/describe-agent.ts";
import { InboxList } from "../team/inbox-list.tsx";

/** An agent of the board: what it does, what it says about itself, what it has cost, and what waits for it. */
export const AgentCard = memo(function AgentCard({ team, agent }: { team: Team; agent: TeamAgent }) {
  const { name, role, status, since, error, note, task, tokens, costUsd, steps, inbox } = agent;
  const href = buildPath(team.agency, name);
  const isBusy = status === "working" || status === "waiting";
  return (
    <li className="agent-card" data-status={status}>
      <header>
        <h3>
          <Link href={href}>{name}</Link>
        </h3>
        {role && <p className="faint">{sanitizeText(role)}</p>}
      </header>
      <p className="agent-state">
        <span className="dot" data-tone={statusTones[status]} data-busy={status === "working" || undefined} />
        <span className="agent-state-word">{describeAgentState(agent)}</span>
        {isBusy && since !== undefined && (
          <span className="faint">
            <Elapsed since={since} />
          </span>
        )}
        {needsPerson(agent) && <Link href={href}>Answer</Link>}
      </p>
      {status === "failed" && error !== undefined && <p className="agent-error">{sanitizeText(error)}</p>}
      {note && <p className="agent-note">“{sanitizeText(note)}”</p>}
      {task && <p className="agent-facts">Works on {sanitizeText(task)}</p>}
      <p className="agent-facts">
        {formatCount(steps, "step")} · {formatTokens(tokens)} tokens · {formatCost(costUsd)}
      </p>
      <InboxFacts counts={inbox} />
      {inbox.givenUp > 0 && (
        <details className="agent-given-up">
          <summary>{formatCount(inbox.givenUp, "message")} given up</summary>
          <InboxList team={team} agent={name} isGivenUpOnly />
        </details>
      )}
    </li>
  );
});

/** Counts every second while the agent is busy. */
function Elapsed({ since }: { since: string }) {
  const now = useNow(1000);
  return <>{formatDuration(Math.max(0, now - Date.parse(since)) / 1000)}</>;
}

function InboxFacts({ counts: { pending, seen, deferred } }: { counts: InboxCounts }) {
  const parts = [
    seen > 0 && `handles ${formatCount(seen, "message")}`,
    pending > 0 && `${pending} waiting`,
    deferred > 0 && `${deferred} put off`,
  ].filter(Boolean);
  return <p className="agent-facts">Inbox: {parts.length > 0 ? parts.join(", ") : "empty"}</p>;
}
