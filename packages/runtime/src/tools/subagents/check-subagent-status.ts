import { defineTool, describeForkMerge } from "@thinkery/sdk";
import { z } from "zod";

const lookAgainInSeconds = 30;
const waitNote = "It goes on when a person has answered. Do not look again before you have its report.";

/** Shows what a sub-agent does, or its report. */
export const checkSubagentStatus = defineTool(
  {
    name: "checkSubagentStatus",
    description: "See what the sub-agent of a task is doing, or its report if it has finished.",
    inputSchema: z.object({ taskId: z.string().min(1).max(64) }),
    action: "check",
    idempotent: true,
    parallel: true,
    modelOnly: true,
    onDemand: "tasks",
    polls: true,
  },
  async ({ taskId }, { subagents }) => {
    const { status, waitingFor, step, activity, result, error, merge, startedAt, completedAt } =
      await subagents.get(taskId);
    const elapsedMs = startedAt === undefined ? 0 : (completedAt ?? Date.now()) - startedAt;
    const isWorking = status === "running" || status === "waiting";
    return JSON.stringify({
      taskId,
      status,
      ...(step === undefined ? {} : { step }),
      ...(isWorking && activity ? { activity } : {}),
      elapsedSeconds: Math.round(elapsedMs / 1000),
      ...(waitingFor ? { waitingFor, note: waitNote } : isWorking ? { lookAgainInSeconds } : {}),
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
      ...(merge === undefined ? {} : { files: describeForkMerge(merge) }),
    });
  },
);
