import { z } from "zod";
import { budgetKinds, budgetLevels, budgetPeriods } from "./choices.ts";

const positiveRule = "expected more than 0; leave it out for no limit";
const positiveInteger = z.int("expected a whole number").positive(positiveRule);
const positiveNumber = z.number("expected a number").positive(positiveRule);

/** Spending limits. Omitted ones are unlimited. */
export const limitsSchema = z.strictObject({
  steps: positiveInteger.optional().meta({ description: "Number of model calls." }),
  tokens: positiveInteger.optional().meta({ description: "Input and output tokens." }),
  costUsd: positiveNumber.optional().meta({ description: "Cost in US dollars." }),
  seconds: positiveNumber.optional().meta({ description: "Time spent on models and tools." }),
});

export type Limits = z.infer<typeof limitsSchema>;

/** Limits across turns, in total or per day (UTC). */
export const budgetSchema = limitsSchema
  .extend({ per: z.enum(budgetPeriods).default("ever") })
  .meta({ id: "Budget", description: "Spending limits. Omitted ones are unlimited." });

export type Budget = z.infer<typeof budgetSchema>;

/** A budget to set. It must contain a limit; to remove all limits, delete the budget. */
export const newBudgetSchema = budgetSchema.refine((budget) => budgetKinds.some((kind) => budget[kind] !== undefined), {
  error: `give at least one of ${budgetKinds.join(", ")}`,
});

/** The budget in a blueprint: limits for one turn, and for all turns of an agent together. */
export const agentBudgetSchema = limitsSchema.extend({ agent: budgetSchema.optional() });

export type AgentBudget = z.infer<typeof agentBudgetSchema>;

/** How much of one limit is used. */
export const budgetStatusSchema = z
  .object({
    level: z.enum(budgetLevels),
    agent: z.string().optional().meta({
      description: "Whose turn or agent budget it is, if not the agent's own: an agent that delegated to it.",
    }),
    kind: z.enum(budgetKinds),
    per: z.enum(["turn", ...budgetPeriods]),
    limit: z.number(),
    spent: z.number(),
    reserved: z.number().meta({ description: "Reserved for calls in progress." }),
  })
  .meta({ id: "BudgetStatus", description: "How much of one limit of a budget is used." });

export type BudgetStatus = z.infer<typeof budgetStatusSchema>;

/** A budget and its current usage. Null if there is none. */
export const budgetResponseSchema = z
  .object({ budget: budgetSchema.nullable(), statuses: z.array(budgetStatusSchema) })
  .meta({ id: "BudgetResponse" });

export type BudgetResponse = z.infer<typeof budgetResponseSchema>;
