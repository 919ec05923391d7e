import { type Agency, isThinkeryError } from "@thinkery/sdk";
import { contentsOf, useAgent } from "../api/agencies.ts";
import { useSource } from "../api/source.ts";
import { Chat } from "../chat/chat.tsx";
import type { FilesPlace } from "../frame/files-place.ts";
import { Notice } from "../parts/notice.tsx";
import { MissingView } from "./missing.tsx";

interface AgentViewProps {
  agency: Agency;
  name: string;
  user: string;
  files: FilesPlace | undefined;
}

export function AgentView({ agency, name, user, files }: AgentViewProps) {
  const { value: agent, error } = useAgent(agency.id, name);
  const around = contentsOf(agency.id);
  const blueprint = useSource(around).value?.blueprints.find((item) => item.name === agent?.blueprint);

  // A name that could not be an agent's is answered with bad_request: for a person, it is just not there.
  if (isThinkeryError(error) && (error.code === "not_found" || error.code === "bad_request")) {
    return <MissingView title={`There is no agent “${name}” in ${agency.name}.`} />;
  }
  if (agent) return <Chat user={user} agency={agency} agent={agent} blueprint={blueprint} files={files} />;
  if (!error) return <p className="view faint">Loading…</p>;
  return (
    <div className="view">
      <Notice tone="bad" title="This agent could not be loaded." onRetry={() => void around.reload()}>
        {error.message}
      </Notice>
    </div>
  );
}
