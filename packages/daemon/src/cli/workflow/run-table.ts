import type { WorkflowRun } from "@thinkery/sdk";
import { formatCost } from "../conversation/lines.ts";
import { formatDuration } from "../duration.ts";
import { formatCount } from "./agent-lines.ts";

export const runTitles = ["RUN", "STATUS", "AGENTS", "TURNS", "TOKENS", "COST", "STARTED", "TOOK"];

/** Returns the cells of a run in a table. */
export function formatRunRow(run: WorkflowRun, now: number): string[] {
  const { agency, status, reason, resident, agents, turns, usage, startedAt, endedAt } = run;
  const isOver = endedAt !== undefined;
  const [age = "0s"] = formatDuration((now - Date.parse(startedAt)) / 1000).split(" ");
  return [
    `@${agency}`,
    status + (reason === undefined ? "" : ` (${reason})`) + (resident && !isOver ? ", resident" : ""),
    String(agents.length),
    String(turns),
    formatCount(usage.inputTokens + usage.outputTokens),
    formatCost(usage.costUsd),
    `${age} ago`,
    isOver ? formatDuration((Date.parse(endedAt) - Date.parse(startedAt)) / 1000) : "",
  ];
}
