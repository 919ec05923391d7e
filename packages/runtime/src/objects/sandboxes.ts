import { isAgentAddress } from "@thinkery/sdk";
import { type AgentLinux, type LinuxEnv, openLinux } from "../sandbox/linux.ts";

/** The Linux sandbox in which an agent's checks run, below the agent. No sub-agent has this name. */
export const openCheckSandbox = (env: LinuxEnv, agent: string): AgentLinux => openLinux(env, `${agent}/merge-check`);

/** Called when an agent is deleted: ends its native processes and removes their folders. */
export async function forgetSandboxes(env: LinuxEnv, agent: string): Promise<void> {
  await openLinux(env, agent).forget();
  // One at the lowest level delegates nothing, so it has no checks.
  if (isAgentAddress(`${agent}/merge-check`)) await openCheckSandbox(env, agent).forget();
}
