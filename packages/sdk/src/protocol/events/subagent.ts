import { z } from "zod";

/** Events about sub-agents. */
export const subagentEvents = () => ({
  "subagent.spawned": z.object({ childThreadId: z.string() }),
  "subagent.completed": z.object({ childThreadId: z.string(), result: z.unknown().optional() }),
});
