import { z } from "zod";
import { reasoningEfforts } from "./choices.ts";
import { modelIdSchema } from "./name-schemas.ts";

/** The model of each role. Omitted roles are inherited from the layer below. */
export const modelRolesSchema = z
  .strictObject({
    primary: modelIdSchema.optional().meta({ description: "Used for the conversation itself." }),
    fast: modelIdSchema.optional().meta({ description: "Used for sub-agents and quick checks." }),
    summarizer: modelIdSchema.optional().meta({ description: "Used to compact long conversations." }),
    vision: modelIdSchema.optional().meta({ description: "Used for steps with images." }),
  })
  .meta({ id: "ModelRoles" });

export type ModelRoles = z.infer<typeof modelRolesSchema>;

export const reasoningEffortSchema = z.enum(reasoningEfforts, `expected ${reasoningEfforts.join(", ")}`);

/** The reasoning effort of each role. Omitted roles are inherited from the layer below. */
export const roleEffortsSchema = z
  .strictObject({
    primary: reasoningEffortSchema.optional(),
    fast: reasoningEffortSchema.optional(),
    summarizer: reasoningEffortSchema.optional(),
    vision: reasoningEffortSchema.optional(),
  })
  .meta({ id: "RoleEfforts", description: "How much the model of each role thinks before it responds." });

export type RoleEfforts = z.infer<typeof roleEffortsSchema>;
