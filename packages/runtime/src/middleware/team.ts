import { defineMiddleware, parseAddress } from "@thinkery/sdk";
import { channelTools } from "../tools/team/channel-tools.ts";
import { documentTools, resourceTools } from "../tools/team/documents.ts";
import { feedback } from "../tools/team/feedback.ts";
import { teamTaskTools } from "../tools/team/team-tasks.ts";

/** Registers the tools of teams. They are offered to agents that work with others. A sub-agent works for its parent. */
export const team = defineMiddleware({
  name: "team",
  tags: ["default", "team"],
  onInit(context) {
    if (parseAddress(context.agent)?.path.length !== 1) return;
    for (const tool of [...channelTools, ...documentTools, ...resourceTools, ...teamTaskTools, feedback])
      context.registerTool(tool);
  },
});
