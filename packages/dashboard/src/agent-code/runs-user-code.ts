import type { Agent, ListedBlueprint } from "@thinkery/sdk";

/** Whether the agent was made from a package: its turns are computed by code of a user. */
export function runsUserCode({ agent, blueprint }: { agent: Agent; blueprint: ListedBlueprint | undefined }): boolean {
  return (agent.driver ?? blueprint?.driver) === "isolate";
}
