import { defineTool, type Task, taskChangeSchema } from "@thinkery/sdk";
import { z } from "zod";

const endings = ["complete", "failed", "cancelled"] as const;

export const completeTask = defineTool(
  {
    name: "completeTask",
    description: "End a task: complete it with its result, or fail or cancel it.",
    inputSchema: z.object({
      taskId: z.string().min(1).max(200),
      status: z.enum(endings).default("complete"),
      result: taskChangeSchema.shape.result,
      error: taskChangeSchema.shape.error,
    }),
    action: "complete",
    idempotent: true,
    onDemand: "tasks",
  },
  ({ taskId, status, result, error }, { tasks }) => {
    const { task, affected } = tasks.update(taskId, {
      status,
      ...(result === undefined ? {} : { result }),
      ...(error === undefined ? {} : { error }),
    });
    return {
      taskId,
      status: task.status,
      ...listIds("unblocked", affected, "pending"),
      ...listIds("blocked", affected, "blocked"),
    };
  },
);

function listIds(label: string, tasks: readonly Task[], status: Task["status"]): Record<string, string[]> {
  const ids = tasks.filter((task) => task.status === status).map(({ id }) => id);
  return ids.length > 0 ? { [label]: ids } : {};
}
