import { defineMiddleware } from "@thinkery/sdk";
import { fileTools } from "../tools/files/files.ts";

/** The files of an agent's workspace. */
export const filesystem = defineMiddleware({
  name: "filesystem",
  tags: ["default", "fs"],
  onInit(context) {
    for (const tool of fileTools) context.registerTool(tool);
  },
});
