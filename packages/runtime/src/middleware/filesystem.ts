import { defineMiddleware } from "@thinkery/sdk";
import { fileTools } from "../tools/files/files.ts";

/** Registers the file tools for the agent's workspace. */
export const filesystem = defineMiddleware({
  name: "filesystem",
  tags: ["default", "fs"],
  onInit(context) {
    for (const tool of fileTools) context.registerTool(tool);
  },
});
