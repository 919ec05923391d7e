import { z } from "zod";
import { budgetStatusSchema } from "./budget.ts";
import { agencyIdSchema, agentNameSchema } from "./name-schemas.ts";
import { usageSchema } from "./turn-usage.ts";

const spentSchema = usageSchema.extend({
  calls: z.number(),
  seconds: z.number().meta({ description: "Time spent on models and tools." }),
});

const byModelSchema = z.array(spentSchema.extend({ model: z.string() }));

/** Usage of model calls: in total, by model and by day. */
const reportSchema = z.object({
  total: spentSchema,
  byModel: byModelSchema,
  byDay: z
    .array(
      spentSchema.extend({
        day: z.string().meta({ description: "A day in UTC, for example 2026-11-15." }),
        byModel: byModelSchema,
      }),
    )
    .meta({ description: "Days without usage are omitted." }),
});

export type UsageBreakdown = z.infer<typeof reportSchema>;

/** The usage of an agent. */
export const agentUsageSchema = reportSchema
  .extend({
    turns: z.object({ completed: z.number(), error: z.number(), canceled: z.number(), open: z.number() }),
    messages: z.number(),
    events: z.number(),
    subagents: spentSchema.omit({ seconds: true }).optional().meta({
      description: "What its sub-agents have spent besides. The agent's own budget counts it too.",
    }),
  })
  .meta({ id: "AgentUsage" });

export type AgentUsage = z.infer<typeof agentUsageSchema>;

const budgetStatusesSchema = z
  .array(budgetStatusSchema)
  .meta({ description: "All limits across turns that apply here, the widest last." });

export const agentUsageResponseSchema = agentUsageSchema.extend({ budget: budgetStatusesSchema });

/** The usage of one agent or agency. Deleted ones of the same name are distinguished by their creation time. */
const partSchema = spentSchema.extend({ createdAt: z.string() });

export const agencyUsageSchema = reportSchema
  .extend({
    byAgent: z.array(partSchema.extend({ agent: agentNameSchema })).meta({ description: "Includes deleted agents." }),
    budget: budgetStatusesSchema,
  })
  .meta({ id: "AgencyUsage" });

export type AgencyUsage = z.infer<typeof agencyUsageSchema>;

export const userUsageSchema = reportSchema
  .extend({
    byAgency: z
      .array(partSchema.extend({ agency: agencyIdSchema }))
      .meta({ description: "Includes deleted agencies." }),
    budget: budgetStatusesSchema,
  })
  .meta({ id: "UserUsage" });

export type UserUsage = z.infer<typeof userUsageSchema>;

const daysRule = "expected a whole number from 1 to 3660";

export const usageQuerySchema = z.strictObject({
  days: z.coerce
    .number(daysRule)
    .int(daysRule)
    .min(1, daysRule)
    .max(3660, daysRule)
    .optional()
    .meta({ description: "Only this many days, up to and including today." }),
});

export type UsageQuery = z.infer<typeof usageQuerySchema>;
