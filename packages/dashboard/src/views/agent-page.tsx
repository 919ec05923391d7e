import { type Agency, isThinkeryError } from "@thinkery/sdk";
import { getContentsSource, useAgent } from "../api/agencies.ts";
import { useSource } from "../api/source.ts";
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

/** A view of an agent, as soon as the agent is loaded. */
export function AgentPage({ agency, name, user, match }: AgentPageProps) {
  const { value: agent, error } = useAgent(agency.id, name);
  const around = getContentsSource(agency.id);
  const blueprint = useSource(around).value?.blueprints.find((item) => item.name === agent?.blueprint);

  // A name that could not be an agent's is answered with bad_request: for a person, it is just not there.
  if (isThinkeryError(error) && (error.code === "not_found" || error.code === "bad_request")) {
    return <MissingView title={`There is no agent “${name}” in ${agency.name}.`} />;
  }
  if (agent) return <Chat user={user} agency={agency} agent={agent} blueprint={blueprint} match={match} />;
  if (!error) return <p className="view faint">Loading…</p>;
  return (
    <div className="view">
      <Notice tone="bad" title="This agent could not be loaded." onRetry={() => void around.reload()}>
        {error.message}
      </Notice>
    </div>
  );
}
