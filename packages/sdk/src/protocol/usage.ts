import { z } from "zod";
import { usageSchema } from "./turn.ts";

/** What an agent's calls to models came to. */
export const agentUsageSchema = z
  .object({
    total: usageSchema.extend({ calls: z.number() }),
    byModel: z.array(usageSchema.extend({ model: z.string(), calls: z.number() })),
    turns: z.object({ completed: z.number(), error: z.number(), canceled: z.number(), open: z.number() }),
    messages: z.number(),
    events: z.number(),
  })
  .meta({ id: "AgentUsage" });

export type AgentUsage = z.infer<typeof agentUsageSchema>;
