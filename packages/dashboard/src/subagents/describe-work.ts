import type { Subagent } from "@thinkery/sdk";

/** Whether a sub-agent has not finished. */
export function isWorking({ status }: Pick<Subagent, "status">): boolean {
  return status === "running" || status === "waiting";
}

/** Describes in one line what a sub-agent does, or how its work ended. */
export function describeWork(subagent: Subagent): string {
  const { status, activity, startedAt, result, error } = subagent;
  if (isWorking(subagent)) return activity ?? (startedAt === undefined ? "Waits to start" : "Thinking…");
  const text = status === "complete" ? result : (error ?? result);
  return text?.split("\n").find((line) => line.trim() !== "") ?? "";
}
