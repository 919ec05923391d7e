import type { Subagent, SubagentStream } from "@thinkery/sdk";

const maxChars = 200;

/** Whether a sub-agent has not finished. */
export function isWorking({ status }: Pick<Subagent, "status">): boolean {
  return status === "running" || status === "waiting";
}

/** Describes in one line what a sub-agent does, or how its work ended. */
export function describeWork(subagent: Subagent, stream?: SubagentStream): string {
  const { status, activity, startedAt, result, error } = subagent;
  // Its status says so.
  if (subagent.waitingFor) return "";
  const call = stream?.calls.at(-1);
  if (call) return `${call.toolName} ${JSON.stringify(call.input)}`.slice(0, maxChars);
  if (stream && !stream.isMessageOver) return "Writing…";
  if (isWorking(subagent)) return activity ?? (startedAt === undefined ? "Waits to start" : "Thinking…");
  const text = status === "complete" ? result : (error ?? result);
  return text?.split("\n").find((line) => line.trim() !== "") ?? "";
}
