import { z } from "zod";
import {
  agencyIdSchema,
  agentNameSchema,
  blueprintNameSchema,
  driverNameSchema,
  modelIdSchema,
} from "./name-schemas.ts";
import { nextSchema } from "./page.ts";
import { propsSchema } from "./props.ts";

export const agentSchema = z
  .object({
    id: agentNameSchema,
    name: agentNameSchema,
    agency: agencyIdSchema,
    blueprint: blueprintNameSchema,
    driver: driverNameSchema.optional().meta({ description: "its own, or that of its blueprint" }),
    model: modelIdSchema.optional(),
    system: z.string().optional(),
    owner: z.string(),
    createdAt: z.string(),
  })
  .meta({ id: "Agent", description: "A durable agent as its agency knows it." });

export type Agent = z.infer<typeof agentSchema>;

export const agentListSchema = z.object({ agents: z.array(agentSchema), next: nextSchema });

export const newAgentSchema = z
  .strictObject({
    name: agentNameSchema.optional(),
    blueprint: blueprintNameSchema.optional(),
    agentType: blueprintNameSchema.optional().meta({ description: "another word for `blueprint`" }),
    model: modelIdSchema.optional(),
    driver: driverNameSchema.optional().meta({ description: "how its turns are computed; its blueprint's by default" }),
    backend: driverNameSchema.optional().meta({ description: "another word for `driver`" }),
    system: z.string().max(100_000).optional().meta({ description: "extra instructions for this agent" }),
    props: propsSchema.optional(),
  })
  .refine((agent) => !(agent.blueprint && agent.agentType && agent.blueprint !== agent.agentType), {
    error: "blueprint and agentType disagree; give one",
    path: ["agentType"],
  })
  .refine((agent) => !(agent.driver && agent.backend && agent.driver !== agent.backend), {
    error: "driver and backend disagree; give one",
    path: ["backend"],
  })
  .meta({ id: "NewAgent" });

export type NewAgent = z.infer<typeof newAgentSchema>;
