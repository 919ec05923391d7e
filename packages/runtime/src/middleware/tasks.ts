import { defineMiddleware } from "@thinkery/sdk";
import { completeTask } from "../tools/tasks/complete-task.ts";
import { createSubtask } from "../tools/tasks/create-subtask.ts";
import { listTasks } from "../tools/tasks/list-tasks.ts";

/** Registers the tools of the task graph. Only the one that creates tasks is always offered. */
export const tasks = defineMiddleware({
  name: "tasks",
  tags: ["default", "tasks"],
  onInit(context) {
    context.registerTool(createSubtask);
    context.registerTool(listTasks);
    context.registerTool(completeTask);
  },
});
