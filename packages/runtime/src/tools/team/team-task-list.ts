import { defineTool } from "@thinkery/sdk";
import { z } from "zod";
import { describeTeamTask } from "./describe-team-task.ts";

export const teamTaskList = defineTool(
  {
    name: "team_task_list",
    description: "List the tasks your team shares: open ones, and the latest results.",
    inputSchema: z.object({}),
    action: "list",
    idempotent: true,
    parallel: true,
    onDemand: "team",
    polls: true,
  },
  async (_, { team }) => {
    const { tasks, progress } = await team.listTasks();
    return { tasks: tasks.map((task) => describeTeamTask(task, { isListed: true })), progress };
  },
);
