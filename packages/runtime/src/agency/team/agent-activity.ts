import type { TeamAgent } from "@thinkery/sdk";

/** What an agent tells its agency that it is doing. */
export type AgentActivity = Pick<
  TeamAgent,
  "status" | "waitingFor" | "runId" | "tool" | "since" | "error" | "steps" | "tokens" | "costUsd"
>;

export const noActivity: AgentActivity = { status: "idle", steps: 0, tokens: 0, costUsd: 0 };
