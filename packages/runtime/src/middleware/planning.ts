import { defineMiddleware } from "@thinkery/sdk";
import { writeTodos } from "../tools/write-todos.ts";

/** A todo list that the agent writes and everybody sees. */
export const planning = defineMiddleware({
  name: "planning",
  tags: ["default", "planning"],
  onInit(context) {
    context.registerTool(writeTodos);
  },
});
