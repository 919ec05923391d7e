import { fail } from "@thinkery/sdk";
import type { AgentStore } from "../../store/agent-store.ts";
import type { SubagentRow } from "../../store/subagent-row.ts";
import type { Assignment } from "./assignment.ts";

/** Who says that it is the sub-agent that works on a task. */
export type Reporter = Pick<Assignment, "taskId" | "token">;

/** Returns undefined if there is none any more: its parent's conversation was cleared. */
export function findReporter({ subagents }: AgentStore, { taskId, token }: Reporter): SubagentRow | undefined {
  const row = subagents.get(taskId);
  if (row && row.token !== token) throw fail("forbidden", "This is not the sub-agent that the task was delegated to.");
  return row;
}
