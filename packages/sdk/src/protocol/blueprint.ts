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

/** Middleware brings keys of its own, so only the keys we know are checked here. */
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
    model: modelIdSchema.optional().meta({ description: "of the primary role" }),
    models: modelRolesSchema.omit({ primary: true }).optional().meta({ description: "of the other roles" }),
    driver: driverNameSchema.optional().meta({ description: "how turns are computed; `think` by default" }),
    config: blueprintConfigSchema.optional(),
  })
  .meta({ id: "Blueprint", description: "What an agent is." });

export type Blueprint = z.infer<typeof blueprintSchema>;

/** As it is written: what has a default may be left out. */
export type NewBlueprint = z.input<typeof blueprintSchema>;

/** The keys of a blueprint's config that the host itself reads; each middleware adds its own. */
export type BlueprintConfig = Pick<z.input<typeof blueprintConfigSchema>, "budget" | "hitl" | "policy">;

export const listedBlueprintSchema = blueprintSchema
  .extend({
    source: z.enum(["static", "dynamic"]),
    warnings: z
      .array(z.string())
      .optional()
      .meta({ description: "what is probably not meant, such as a tag that nothing has" }),
  })
  .meta({ id: "ListedBlueprint" });

export type ListedBlueprint = z.infer<typeof listedBlueprintSchema>;

export const blueprintListSchema = z.object({ blueprints: z.array(listedBlueprintSchema), next: nextSchema });
