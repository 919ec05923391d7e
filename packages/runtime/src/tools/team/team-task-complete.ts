import { defineTool, taskChangeSchema } from "@thinkery/sdk";
import { z } from "zod";

const endings = ["complete", "failed", "cancelled"] as const;

export const teamTaskComplete = defineTool(
  {
    name: "team_task_complete",
    description: "End a shared task you claimed: complete it with its result, or fail or cancel it.",
    inputSchema: z.object({
      id: z.string().min(1).max(200),
      result: taskChangeSchema.shape.result,
      status: z.enum(endings).default("complete"),
      error: taskChangeSchema.shape.error,
    }),
    action: "complete",
    idempotent: true,
    onDemand: "team",
  },
  async ({ id, status, result, error }, { team }) => {
    const outcome = { ...(result === undefined ? {} : { result }), ...(error === undefined ? {} : { error }) };
    const task = await team.completeTask(id, { status, ...outcome });
    return { id, status: task.status };
  },
);
