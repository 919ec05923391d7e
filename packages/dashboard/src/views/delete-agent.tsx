import type { Agent } from "@thinkery/sdk";
import { getContentsSource } from "../api/agencies.ts";
import { getParentPath } from "../api/agent-path.ts";
import { call } from "../api/host.ts";
import { announce } from "../frame/announce.tsx";
import { navigate, buildPath } from "../frame/navigation.ts";
import { Confirm } from "../parts/confirm.tsx";

export function DeleteAgent({ agent, onClose }: { agent: Agent; onClose(): void }) {
  const remove = async () => {
    await call("deleteAgent", { params: { agency: agent.agency, agent: agent.name } });
    onClose();
    navigate(buildPath(agent.agency, getParentPath(agent.name)), "replace");
    announce(`Agent ${agent.name} deleted.`);
    await getContentsSource(agent.agency).reload();
  };

  return (
    <Confirm title={`Delete ${agent.name}?`} action="Delete agent" onConfirm={remove} onClose={onClose}>
      <p>This deletes the agent and all its data. This cannot be undone.</p>
    </Confirm>
  );
}
