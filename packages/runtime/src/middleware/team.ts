import { defineMiddleware } from "@thinkery/sdk";
import { documentTools, resourceTools } from "../tools/team/documents.ts";

/** Registers the tools of teamwork. They are offered once the agent's agency is a team. */
export const team = defineMiddleware({
  name: "team",
  tags: ["default", "team"],
  onInit(context) {
    for (const tool of [...documentTools, ...resourceTools]) context.registerTool(tool);
  },
});
