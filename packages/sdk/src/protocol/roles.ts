import { z } from "zod";
import { modelIdSchema } from "./name-schemas.ts";

/** Which model fills which role; the roles that are left out are filled by the layer below. */
export const modelRolesSchema = z
  .strictObject({
    primary: modelIdSchema.optional().meta({ description: "the main loop" }),
    fast: modelIdSchema.optional().meta({ description: "sub-agents and quick checks" }),
    summarizer: modelIdSchema.optional().meta({ description: "compaction of long conversations" }),
    vision: modelIdSchema.optional().meta({ description: "steps that look at images" }),
  })
  .meta({ id: "ModelRoles" });

export type ModelRoles = z.infer<typeof modelRolesSchema>;
