import { z } from "zod";
import { agencyIdSchema } from "./name-schemas.ts";
import { nextSchema } from "./page.ts";

export const agencySchema = z
  .object({
    id: agencyIdSchema,
    name: z.string(),
    owner: z.string(),
    createdAt: z.string(),
  })
  .meta({ id: "Agency", description: "A tenant: a group of agents with their blueprints and budget." });

export type Agency = z.infer<typeof agencySchema>;

export const agencyListSchema = z.object({ agencies: z.array(agencySchema), next: nextSchema });

export const newAgencySchema = z
  .strictObject({ id: agencyIdSchema.optional(), name: z.string().min(1).max(200).optional() })
  .meta({ id: "NewAgency" });

export type NewAgency = z.infer<typeof newAgencySchema>;
