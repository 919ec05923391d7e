import { z } from "zod";
import { scopes } from "./choices.ts";
import { agencyIdSchema, agencyRefSchema } from "./name-schemas.ts";
import { nextSchema } from "./page.ts";
import { variablesSchema } from "./workflow.ts";

export const agencySchema = z
  .object({
    id: agencyRefSchema.meta({ description: "`review`, or `review@bob` for an agency of another user." }),
    name: z.string(),
    owner: z.string(),
    createdAt: z.string(),
    scopes: z.array(z.enum(scopes)).optional().meta({
      description: "Of an agency of another user: what you may do there, as far as your token allows it.",
    }),
  })
  .meta({ id: "Agency", description: "A tenant: a group of agents with their blueprints and budget." });

export type Agency = z.infer<typeof agencySchema>;

export const agencyListSchema = z.object({ agencies: z.array(agencySchema), next: nextSchema });

export const newAgencySchema = z
  .strictObject({ id: agencyIdSchema.optional(), name: z.string().min(1).max(200).optional() })
  .meta({ id: "NewAgency" });

export type NewAgency = z.infer<typeof newAgencySchema>;

/** How an agency delivers messages. */
const agencySettingFields = {
  maxAttempts: z.int().min(1).max(20).meta({
    description: "How many turns may fail to handle an inbox item before it is given up. Defaults to 4.",
  }),
  backoffSeconds: z.number().min(0).max(3600).meta({
    description: "The pause before the second attempt; it is four times longer before each further one. Defaults to 2.",
  }),
  maxTurnsWithoutProgress: z.int().min(1).max(1000).meta({
    description:
      "After so many turns in a row in which an agent only wrote to others, messages of agents no longer wake it. Defaults to 8.",
  }),
  claimSeconds: z.number().min(1).max(86_400).meta({
    description: "How long an agent holds a shared task without a turn. Defaults to 600.",
  }),
};

export const agencySettingsSchema = z.object(agencySettingFields).meta({ id: "AgencySettings" });

export type AgencySettings = z.infer<typeof agencySettingsSchema>;

export const defaultAgencySettings: AgencySettings = {
  maxAttempts: 4,
  backoffSeconds: 2,
  maxTurnsWithoutProgress: 8,
  claimSeconds: 600,
};

export const agencyDetailsSchema = agencySchema
  .extend({ settings: agencySettingsSchema, vars: variablesSchema, agents: z.number() })
  .meta({ id: "AgencyDetails" });

export type AgencyDetails = z.infer<typeof agencyDetailsSchema>;

export const agencyChangeSchema = z
  .strictObject({
    name: z.string().min(1).max(200).optional(),
    settings: z.strictObject(agencySettingFields).partial().optional(),
    vars: variablesSchema.optional().meta({ description: "Replaces all variables." }),
  })
  .meta({ id: "AgencyChange" });

export type AgencyChange = z.infer<typeof agencyChangeSchema>;
