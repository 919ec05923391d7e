import { z } from "zod";
import { driverSchema } from "./blueprint.ts";
import { agencyIdSchema, agentNameSchema, blueprintNameSchema, modelIdSchema } from "./name-schemas.ts";
import { nextSchema } from "./page.ts";
import { propsSchema } from "./props.ts";

export const agentSchema = z
  .object({
    id: agentNameSchema,
    name: agentNameSchema,
    agency: agencyIdSchema,
    blueprint: blueprintNameSchema,
    driver: driverSchema,
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
    backend: driverSchema.optional().meta({ description: "the driver" }),
    system: z.string().max(100_000).optional().meta({ description: "extra instructions for this agent" }),
    props: propsSchema.optional(),
  })
  .refine((agent) => !(agent.blueprint && agent.agentType && agent.blueprint !== agent.agentType), {
    error: "blueprint and agentType disagree; give one",
    path: ["agentType"],
  })
  .meta({ id: "NewAgent" });

export type NewAgent = z.infer<typeof newAgentSchema>;
