import { defineTool, newTaskSchema, taskTypes } from "@thinkery/sdk";

const text = { type: "string" };

export const teamTaskCreate = {
  ...defineTool(
    {
      name: "team_task_create",
      description: "Add a task that any member of your team may claim.",
      inputSchema: newTaskSchema,
      action: "create",
      idempotent: true,
      onDemand: "team",
    },
    async (input, { team }) => {
      const { id, status } = await team.createTask(input);
      return { id, status };
    },
  ),
  // Every model call contains this, so it is shorter than what the schema would give.
  parameters: {
    type: "object",
    properties: {
      title: text,
      type: { enum: taskTypes },
      description: text,
      dependencies: { type: "array", items: text },
      parentId: text,
    },
    required: ["title"],
  },
};
