import { defineTool, todoSchema } from "@thinkery/sdk";
import { z } from "zod";

export const writeTodos = defineTool(
  {
    name: "write_todos",
    description:
      "Write your todo list, replacing the last one. Use it for work of three or more steps: one todo in_progress at a time, completed as soon as it is done.",
    inputSchema: z.object({ todos: z.array(todoSchema).max(100) }),
    action: "write",
    idempotent: true,
    local: true,
  },
  ({ todos }, context) => {
    context.record({ type: "todos.updated", data: { todos } });
    const done = todos.filter(({ status }) => status === "completed").length;
    return `${todos.length} todos, ${done} completed.`;
  },
);
