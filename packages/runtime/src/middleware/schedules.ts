import { defineMiddleware, parseAddress } from "@thinkery/sdk";
import { manageSchedules } from "../tools/manage-schedules.ts";
import { schedule } from "../tools/schedule.ts";

/** Registers the tools of schedules. Only the one that creates them is always offered. A sub-agent has none. */
export const schedules = defineMiddleware({
  name: "schedules",
  tags: ["default", "schedules"],
  onInit(context) {
    if (parseAddress(context.agent)?.path.length !== 1) return;
    context.registerTool(schedule);
    context.registerTool(manageSchedules);
  },
});
