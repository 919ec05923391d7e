import { z } from "zod";
import { taskSchema } from "../task.ts";

/** Events about tasks. The root task of a message has none: it is derived from its turn. */
export const taskEvents = () => ({
  "task.created": z.object({
    task: taskSchema,
    runId: z.string().optional().describe("The turn that created it; absent if a person did."),
  }),
  "task.updated": taskSchema
    .pick({
      status: true,
      result: true,
      error: true,
      assignedTo: true,
      dependencies: true,
      startedAt: true,
      completedAt: true,
    })
    .partial()
    .extend({ taskId: z.string(), runId: z.string().optional() })
    .describe("What changed in a task. If a change blocks or unblocks other tasks, each of them has its own event."),
});
