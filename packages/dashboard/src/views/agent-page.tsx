import { type Agency, isThinkeryError } from "@thinkery/sdk";
import { getContentsSource, useAgent } from "../api/agencies.ts";
import { getAgentName, getParentPath } from "../api/agent-path.ts";
import { useSource } from "../api/source.ts";
import { useTeam } from "../api/team/team.ts";
import { Chat } from "../chat/chat.tsx";
import { Notice } from "../parts/notice.tsx";
import type { ViewMatch } from "./define-view.tsx";
import { MissingView } from "./missing.tsx";

interface AgentPageProps {
  agency: Agency;
  name: string;
  user: string;
  match: ViewMatch<"agent">;
}

/** A view of an agent, once the agent is loaded. */
export function AgentPage({ agency, name, user, match }: AgentPageProps) {
  // For the states of its agents in the sidebar.
  useTeam(agency.id);
  const { value: agent, error } = useAgent(agency.id, name);
  const contents = getContentsSource(agency.id);
  const blueprint = useSource(contents).value?.blueprints.find((item) => item.name === agent?.blueprint);

  // The host responds with bad_request to an invalid name; for the user the agent just does not exist.
  if (isThinkeryError(error) && (error.code === "not_found" || error.code === "bad_request")) {
    const kind = getParentPath(name) === undefined ? "Agent" : "Sub-agent";
    return <MissingView title={`${kind} “${getAgentName(name)}” not found in ${agency.name}`} />;
  }
  if (agent) return <Chat user={user} agency={agency} agent={agent} blueprint={blueprint} match={match} />;
  if (!error) return <p className="view faint">Loading…</p>;
  return (
    <div className="view">
      <Notice tone="bad" title="Failed to load this agent" onRetry={() => void contents.reload()}>
        {error.message}
      </Notice>
    </div>
  );
}
