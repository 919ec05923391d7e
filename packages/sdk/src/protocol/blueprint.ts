import { z } from "zod";
import { agentBudgetSchema } from "./budget.ts";
import { agentNameSchema, blueprintNameSchema, driverNameSchema, modelIdSchema } from "./name-schemas.ts";
import { nextSchema } from "./page.ts";
import { policyRulesSchema } from "./policy.ts";
import { modelRolesSchema, roleEffortsSchema } from "./roles.ts";

const maxExpirySeconds = 365 * 24 * 3600;

/** The keys that every blueprint's config may have. */
const baseConfigSchema = z.looseObject({
  budget: agentBudgetSchema.optional(),
  hitl: z
    .strictObject({
      tools: z.array(z.string().min(1)).max(200).default([]),
      expiresSeconds: z.number().min(1).max(maxExpirySeconds).optional(),
    })
    .optional(),
  policy: policyRulesSchema.optional(),
});

const fields = {
  name: blueprintNameSchema,
  description: z.string().max(2000).default(""),
  prompt: z.string().max(100_000).default(""),
  tags: z.array(z.string().min(1).max(64)).max(64).default(["default"]),
  model: modelIdSchema.optional().meta({ description: "The model of the primary role." }),
  models: modelRolesSchema.omit({ primary: true }).optional().meta({ description: "The models of the other roles." }),
  reasoning: roleEffortsSchema.optional(),
  driver: driverNameSchema.optional().meta({ description: "How turns are computed. Defaults to `think`." }),
};

/** A blueprint inside another one's config. Its own sub-agents are checked when it is used. */
const inlineBlueprintSchema = z.strictObject({ ...fields, config: baseConfigSchema.optional() });

const subagentTypesSchema = z
  .array(z.union([blueprintNameSchema, inlineBlueprintSchema], { error: "expected the name of a blueprint, or one" }))
  .max(50);

/** Checks only the keys that the host reads; middleware adds its own. */
const blueprintConfigSchema = baseConfigSchema.extend({
  isolate: z
    .strictObject({ package: agentNameSchema, version: z.int().min(1).optional() })
    .optional()
    .meta({
      description: "The package whose code the driver `isolate` runs; its current version unless one is given.",
    }),
  subagents: z
    .union([subagentTypesSchema, z.strictObject({ subagents: subagentTypesSchema })])
    .optional()
    .meta({ description: "What sub-agents it may delegate to. Without it, all blueprints of its agency." }),
});

export const blueprintSchema = z
  .strictObject({ ...fields, config: blueprintConfigSchema.optional() })
  .meta({ id: "Blueprint", description: "The definition of an agent: prompt, model, tags and configuration." });

export type Blueprint = z.infer<typeof blueprintSchema>;

/** A blueprint as it is written: fields with a default are optional. */
export type NewBlueprint = z.input<typeof blueprintSchema>;

/** The keys of a blueprint's config that the host itself reads. Each middleware adds its own. */
export type BlueprintConfig = Pick<
  z.input<typeof blueprintConfigSchema>,
  "budget" | "hitl" | "isolate" | "policy" | "subagents"
>;

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

export type SubagentType = z.infer<typeof subagentTypesSchema>[number];

/** Returns the types that a blueprint's config limits its sub-agents to, or undefined if it does not. */
export function listSubagentTypes({ config }: Pick<Blueprint, "config">): readonly SubagentType[] | undefined {
  const types = config?.subagents;
  return types && "subagents" in types ? types.subagents : types;
}
