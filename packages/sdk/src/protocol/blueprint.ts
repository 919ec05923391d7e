import { z } from "zod";
import { agentBudgetSchema } from "./budget.ts";
import { blueprintNameSchema, driverNameSchema, modelIdSchema } from "./name-schemas.ts";
import { nextSchema } from "./page.ts";
import { modelRolesSchema } from "./roles.ts";

const policyRuleSchema = z.strictObject({
  tool: z.string().min(1).max(200),
  match: z.string().max(2000).optional(),
  action: z.enum(["deny", "ask", "allow"]),
});

/** Checks only the keys that the host reads; middleware adds its own. */
const blueprintConfigSchema = z.looseObject({
  budget: agentBudgetSchema.optional(),
  hitl: z.strictObject({ tools: z.array(z.string().min(1)).max(200) }).optional(),
  policy: z.array(policyRuleSchema).max(500).optional(),
});

export const blueprintSchema = z
  .strictObject({
    name: blueprintNameSchema,
    description: z.string().max(2000).default(""),
    prompt: z.string().max(100_000).default(""),
    tags: z.array(z.string().min(1).max(64)).max(64).default(["default"]),
    model: modelIdSchema.optional().meta({ description: "The model of the primary role." }),
    models: modelRolesSchema.omit({ primary: true }).optional().meta({ description: "The models of the other roles." }),
    driver: driverNameSchema.optional().meta({ description: "How turns are computed. Defaults to `think`." }),
    config: blueprintConfigSchema.optional(),
  })
  .meta({ id: "Blueprint", description: "The definition of an agent: prompt, model, tags and configuration." });

export type Blueprint = z.infer<typeof blueprintSchema>;

/** A blueprint as it is written: fields with a default are optional. */
export type NewBlueprint = z.input<typeof blueprintSchema>;

/** The keys of a blueprint's config that the host itself reads. Each middleware adds its own. */
export type BlueprintConfig = Pick<z.input<typeof blueprintConfigSchema>, "budget" | "hitl" | "policy">;

export const listedBlueprintSchema = blueprintSchema
  .extend({
    source: z.enum(["static", "dynamic"]),
    warnings: z
      .array(z.string())
      .optional()
      .meta({ description: "Likely mistakes, such as a tag that no tool or middleware has." }),
  })
  .meta({ id: "ListedBlueprint" });

export type ListedBlueprint = z.infer<typeof listedBlueprintSchema>;

export const blueprintListSchema = z.object({ blueprints: z.array(listedBlueprintSchema), next: nextSchema });
