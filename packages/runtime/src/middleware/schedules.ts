import { defineMiddleware, parseAddress } from "@thinkery/sdk";
import { schedule } from "../tools/schedule.ts";

/** Registers the tool that creates schedules. A sub-agent has none. */
export const schedules = defineMiddleware({
  name: "schedules",
  tags: ["default", "schedules"],
  onInit(context) {
    if (parseAddress(context.agent)?.path.length === 1) context.registerTool(schedule);
  },
});
