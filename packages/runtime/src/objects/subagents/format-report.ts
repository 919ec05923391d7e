import { type ChildReport, describeForkMerge, type Subagent } from "@thinkery/sdk";
import { type SubagentRow, toSubagent } from "../../store/subagent-row.ts";

/** Maximum characters of a report in an event and in a message; the whole text is a blob. */
export const maxReportChars = 8000;
const maxMessageChars = 32_000;

/** Returns the report of a sub-agent as its parent's model gets it: with what became of its branch. */
export function formatOutcome(row: SubagentRow, result = row.result ?? ""): string {
  const text = row.state === "complete" ? result : explainEnd(toSubagent(row));
  const files = row.merge ? describeForkMerge(row.merge) : describeOpenBranch(row);
  return [text, files].filter(Boolean).join("\n\n");
}

/** What one that was cancelled has left on its branch is only known once it has stopped. */
function describeOpenBranch({ state, branch }: SubagentRow): string {
  return state === "cancelled" && branch !== undefined ? `If it changed files, they are on branch “${branch}”.` : "";
}

/** Returns why a sub-agent has no result, for the model. */
export function explainEnd({ status, error }: Pick<Subagent, "status" | "error">): string {
  if (status === "cancelled") return "The sub-agent was cancelled.";
  if (status === "interrupted") return `The sub-agent was interrupted and could not be resumed: ${error ?? "unknown"}`;
  return `The sub-agent failed: ${error ?? "unknown"}`;
}

/** Formats the reports of sub-agents that worked in the background as a message to the model. */
export function formatReports(rows: readonly SubagentRow[]): string {
  const reports: string[] = [];
  const omitted: string[] = [];
  let size = 0;
  for (const row of rows) {
    const report = formatReport(row);
    size += report.length;
    if (reports.length > 0 && size > maxMessageChars) omitted.push(row.taskId);
    else reports.push(report);
  }
  if (omitted.length > 0)
    reports.push(`Other sub-agents have finished too; checkSubagentStatus shows their reports: ${omitted.join(", ")}.`);
  return reports.join("\n");
}

function formatReport(row: SubagentRow): string {
  const { taskId, agentType, state } = row;
  const attributes = `task=${JSON.stringify(taskId)} type=${JSON.stringify(agentType)} status=${JSON.stringify(state)}`;
  return `<subagent_report ${attributes}>\n${formatOutcome(row)}\n</subagent_report>`;
}

/** Converts a report to what middleware hears of it. */
export function toChildReport(row: SubagentRow): ChildReport {
  const { taskId, childThreadId: threadId, callId = "" } = row;
  const failed = row.state !== "complete";
  return {
    callId,
    toolName: "delegateToSubagent",
    report: formatOutcome(row),
    failed,
    threadId,
    taskId,
  };
}
