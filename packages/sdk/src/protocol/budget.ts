import { z } from "zod";
import { budgetKinds, budgetLevels, budgetPeriods } from "./choices.ts";

const positiveRule = "expected more than 0; leave it out for no limit";
const positiveInteger = z.int("expected a whole number").positive(positiveRule);
const positiveNumber = z.number("expected a number").positive(positiveRule);

/** Where spending ends. What is left out is not limited. */
export const limitsSchema = z.strictObject({
  steps: positiveInteger.optional().meta({ description: "calls to models" }),
  tokens: positiveInteger.optional().meta({ description: "tokens in and out" }),
  costUsd: positiveNumber.optional().meta({ description: "US dollars" }),
  seconds: positiveNumber.optional().meta({ description: "time spent with models and tools" }),
});

export type Limits = z.infer<typeof limitsSchema>;

/** Limits over more than one turn: for good, or anew every day (UTC). */
export const budgetSchema = limitsSchema
  .extend({ per: z.enum(budgetPeriods).default("ever") })
  .meta({ id: "Budget", description: "What may be spent. A kind that is left out is not limited." });

export type Budget = z.infer<typeof budgetSchema>;

/** One that is set has to limit something; for no limits there is none. */
export const newBudgetSchema = budgetSchema.refine((budget) => budgetKinds.some((kind) => budget[kind] !== undefined), {
  error: `give at least one of ${budgetKinds.join(", ")}`,
});

/** A blueprint's: what one turn may spend, and all turns of an agent together. */
export const agentBudgetSchema = limitsSchema.extend({ agent: budgetSchema.optional() });

export type AgentBudget = z.infer<typeof agentBudgetSchema>;

/** How far one limit is used up. */
export const budgetStatusSchema = z
  .object({
    level: z.enum(budgetLevels),
    kind: z.enum(budgetKinds),
    per: z.enum(["turn", ...budgetPeriods]),
    limit: z.number(),
    spent: z.number(),
    reserved: z.number().meta({ description: "set aside for calls under way" }),
  })
  .meta({ id: "BudgetStatus", description: "How far one limit of a budget is used up." });

export type BudgetStatus = z.infer<typeof budgetStatusSchema>;

/** A budget as it stands; null where there is none. */
export const budgetResponseSchema = z
  .object({ budget: budgetSchema.nullable(), statuses: z.array(budgetStatusSchema) })
  .meta({ id: "BudgetResponse" });

export type BudgetResponse = z.infer<typeof budgetResponseSchema>;
