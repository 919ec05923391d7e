import type { TeamAgent } from "@thinkery/sdk";

/** What an agent tells its agency that it is doing. */
export type AgentActivity = Pick<
  TeamAgent,
  "status" | "waitingFor" | "runId" | "tool" | "since" | "error" | "steps" | "tokens" | "costUsd"
>;

export const noActivity: AgentActivity = { status: "idle", steps: 0, tokens: 0, costUsd: 0 };

/** Whether an agent asks a person. Others that wait do so for a time, or for the result of a call. */
export const needsPerson = ({ waitingFor }: AgentActivity) => waitingFor === "approval" || waitingFor === "question";
