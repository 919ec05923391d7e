import { z } from "zod";

/** Agents that work for this one. */
export const subagentEvents = () => ({
  "subagent.spawned": z.object({ childThreadId: z.string() }),
  "subagent.completed": z.object({ childThreadId: z.string(), result: z.unknown().optional() }),
});
