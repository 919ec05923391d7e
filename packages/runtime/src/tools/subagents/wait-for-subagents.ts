import { defer, defineTool, describeForkMerge } from "@thinkery/sdk";
import { z } from "zod";

/** Waits until no sub-agent works. */
export const waitForSubagents = defineTool(
  {
    name: "waitForSubagents",
    description: "Wait until all your sub-agents have finished; returns their reports.",
    inputSchema: z.object({}),
    action: "wait",
    idempotent: true,
    modelOnly: true,
    onDemand: "tasks",
  },
  (_input, { subagents }) => {
    if (subagents.listActive().length > 0) return defer();
    const reports = subagents.takeReports().map(({ taskId, agentType, title, status, result, error, merge }) => ({
      taskId,
      agentType,
      title,
      status,
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
      ...(merge === undefined ? {} : { files: describeForkMerge(merge) }),
    }));
    return JSON.stringify({ subagents: reports });
  },
);
