import { defineMiddleware } from "@thinkery/sdk";
import { writeTodos } from "../tools/write-todos.ts";

/** Registers the todo list, which the agent writes and all clients see. */
export const planning = defineMiddleware({
  name: "planning",
  tags: ["default", "planning"],
  onInit(context) {
    context.registerTool(writeTodos);
  },
});
