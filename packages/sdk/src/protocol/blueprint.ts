import { z } from "zod";
import { drivers } from "./choices.ts";
import { blueprintNameSchema, modelIdSchema } from "./name-schemas.ts";
import { nextSchema } from "./page.ts";

export const driverSchema = z.enum(drivers);

const positive = z.number().positive();

const budgetSchema = z.strictObject({
  steps: z.number().int().positive().optional(),
  tokens: z.number().int().positive().optional(),
  costUsd: positive.optional(),
  seconds: positive.optional(),
});

const policyRuleSchema = z.strictObject({
  tool: z.string().min(1).max(200),
  match: z.string().max(2000).optional(),
  action: z.enum(["deny", "ask", "allow"]),
});

/** Middleware brings keys of its own, so only the keys we know are checked here. */
const blueprintConfigSchema = z.looseObject({
  budget: budgetSchema.optional(),
  hitl: z.strictObject({ tools: z.array(z.string().min(1)).max(200) }).optional(),
  policy: z.array(policyRuleSchema).max(500).optional(),
});

export const blueprintSchema = z
  .strictObject({
    name: blueprintNameSchema,
    description: z.string().max(2000).default(""),
    prompt: z.string().max(100_000).default(""),
    tags: z.array(z.string().min(1).max(64)).max(64).default(["default"]),
    model: modelIdSchema.optional(),
    driver: driverSchema.optional(),
    config: blueprintConfigSchema.optional(),
  })
  .meta({ id: "Blueprint", description: "What an agent is." });

export type Blueprint = z.infer<typeof blueprintSchema>;

export const listedBlueprintSchema = blueprintSchema
  .extend({ source: z.enum(["static", "dynamic"]) })
  .meta({ id: "ListedBlueprint" });

export type ListedBlueprint = z.infer<typeof listedBlueprintSchema>;

export const blueprintListSchema = z.object({ blueprints: z.array(listedBlueprintSchema), next: nextSchema });
