import type { TeamAgent, TeamAgentStatus } from "@thinkery/sdk";
import { sanitizeText } from "../chat/call/sanitize-text.ts";

type AgentState = Pick<TeamAgent, "status" | "waitingFor" | "tool">;

const waitWords: Record<NonNullable<TeamAgent["waitingFor"]>, string> = {
  approval: "needs approval",
  question: "asks a question",
  subagent: "waits for a sub-agent",
  other: "waiting",
};

/** What an agent is doing, in a few words. */
export function describeAgentState({ status, waitingFor, tool }: AgentState): string {
  if (status === "working") return tool === undefined ? "thinking" : `using ${sanitizeText(tool)}`;
  if (status === "waiting") return waitWords[waitingFor ?? "other"];
  return status;
}

/** The color of its dot. */
export const statusTones: Record<TeamAgentStatus, string> = {
  idle: "quiet",
  working: "ok",
  waiting: "warn",
  stopped: "quiet",
  failed: "bad",
};

/** Whether a person has to do something before it goes on. */
export function needsPerson({ status, waitingFor }: AgentState): boolean {
  return status === "waiting" && (waitingFor === "approval" || waitingFor === "question");
}
