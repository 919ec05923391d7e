import { defineTool, newTaskSchema, taskTypes } from "@thinkery/sdk";

const text = { type: "string" };

export const createSubtask = {
  ...defineTool(
    {
      name: "createSubtask",
      description: "Track a step of large work.",
      inputSchema: newTaskSchema,
      action: "create",
      idempotent: true,
    },
    (input, { tasks }) => {
      const { id, status } = tasks.create(input);
      return { taskId: id, status };
    },
  ),
  // Every model call contains this, so it is shorter than what the schema would give and leaves out `parentId`.
  parameters: {
    type: "object",
    properties: {
      type: { enum: taskTypes },
      title: text,
      description: text,
      dependencies: { type: "array", items: text },
    },
    required: ["title"],
  },
};
