import type { Workflow, WorkflowRun } from "@thinkery/sdk";

const defaultMaxTurns = 1000;
const defaultMaxSeconds = 24 * 3600;

/** The bounds of a run: what its workflow says, or a default. A resident one has as many turns as it needs. */
export function getRunLimits(
  { limits }: Pick<Workflow, "limits">,
  isResident = false,
): { maxTurns: number; maxSeconds: number } {
  return {
    maxTurns: limits?.max_turns ?? (isResident ? Infinity : defaultMaxTurns),
    maxSeconds: limits?.max_seconds ?? defaultMaxSeconds,
  };
}

/** Whether a run is about to end because of its limits. */
export const isOverLimit = ({ status, reason }: Pick<WorkflowRun, "status" | "reason">) =>
  (status === "running" || status === "waiting") && (reason === "turn_limit" || reason === "time_limit");

/** Returns when a run has taken too long. The time before a person resumed it does not count. */
export function getDeadline(run: Omit<WorkflowRun, "result">, maxSeconds: number): number | undefined {
  if (run.resident || isOverLimit(run)) return undefined;
  return Date.parse(run.resumedAt ?? run.startedAt) + maxSeconds * 1000;
}
