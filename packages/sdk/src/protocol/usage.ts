import { z } from "zod";
import { budgetStatusSchema } from "./budget.ts";
import { agencyIdSchema, agentNameSchema } from "./name-schemas.ts";
import { usageSchema } from "./turn.ts";

const spentSchema = usageSchema.extend({
  calls: z.number(),
  seconds: z.number().meta({ description: "time with models and tools" }),
});

const byModelSchema = z.array(spentSchema.extend({ model: z.string() }));

/** What some calls to models came to, in all and by model and day. */
const reportSchema = z.object({
  total: spentSchema,
  byModel: byModelSchema,
  byDay: z
    .array(spentSchema.extend({ day: z.string().meta({ description: "2026-11-15, in UTC" }), byModel: byModelSchema }))
    .meta({ description: "days on which nothing was used are left out" }),
});

export type UsageBreakdown = z.infer<typeof reportSchema>;

/** What an agent's calls to models came to. */
export const agentUsageSchema = reportSchema
  .extend({
    turns: z.object({ completed: z.number(), error: z.number(), canceled: z.number(), open: z.number() }),
    messages: z.number(),
    events: z.number(),
  })
  .meta({ id: "AgentUsage" });

export type AgentUsage = z.infer<typeof agentUsageSchema>;

const budgetStatusesSchema = z
  .array(budgetStatusSchema)
  .meta({ description: "every limit over more than one turn that holds here, the widest last" });

export const agentUsageAnswerSchema = agentUsageSchema.extend({ budget: budgetStatusesSchema });

/** Who had a share in it: those that are gone are told apart by when they were made. */
const shareSchema = spentSchema.extend({ createdAt: z.string() });

export const agencyUsageSchema = reportSchema
  .extend({
    byAgent: z
      .array(shareSchema.extend({ agent: agentNameSchema }))
      .meta({ description: "agents that were deleted too" }),
    budget: budgetStatusesSchema,
  })
  .meta({ id: "AgencyUsage" });

export type AgencyUsage = z.infer<typeof agencyUsageSchema>;

export const userUsageSchema = reportSchema
  .extend({
    byAgency: z
      .array(shareSchema.extend({ agency: agencyIdSchema }))
      .meta({ description: "agencies that were deleted too" }),
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
    .meta({ description: "only so many days, today the last of them" }),
});

export type UsageQuery = z.infer<typeof usageQuerySchema>;
