import { z } from "zod";
import {
  agencyRefSchema,
  agentNameSchema,
  blueprintNameSchema,
  driverNameSchema,
  modelIdSchema,
} from "./name-schemas.ts";
import { nextSchema } from "./page.ts";
import { propsSchema } from "./props.ts";
import { subagentSummarySchema } from "./subagent.ts";

export const agentSchema = z
  .object({
    id: agentNameSchema,
    name: agentNameSchema,
    agency: agencyRefSchema,
    blueprint: blueprintNameSchema,
    driver: driverNameSchema.optional().meta({ description: "The agent's own driver, or that of its blueprint." }),
    model: modelIdSchema.optional(),
    system: z.string().optional(),
    owner: z.string(),
    parent: z.string().optional().meta({ description: "The address of the agent that a sub-agent works for." }),
    createdAt: z.string(),
    subagents: z.array(subagentSummarySchema).optional().meta({
      description: "In lists of agents: the sub-agents that work, and the latest that are done.",
    }),
  })
  .meta({ id: "Agent", description: "A durable agent." });

export type Agent = z.infer<typeof agentSchema>;

export const agentListSchema = z.object({ agents: z.array(agentSchema), next: nextSchema });

export const newAgentSchema = z
  .strictObject({
    name: agentNameSchema.optional(),
    blueprint: blueprintNameSchema.optional(),
    agentType: blueprintNameSchema.optional().meta({ description: "An alias of `blueprint`." }),
    model: modelIdSchema.optional(),
    driver: driverNameSchema
      .optional()
      .meta({ description: "How turns are computed. Defaults to the blueprint's driver." }),
    backend: driverNameSchema.optional().meta({ description: "An alias of `driver`." }),
    system: z.string().max(100_000).optional().meta({ description: "Additional instructions for this agent." }),
    props: propsSchema.optional(),
  })
  .refine((agent) => !(agent.blueprint && agent.agentType && agent.blueprint !== agent.agentType), {
    error: "blueprint and agentType differ; give only one",
    path: ["agentType"],
  })
  .refine((agent) => !(agent.driver && agent.backend && agent.driver !== agent.backend), {
    error: "driver and backend differ; give only one",
    path: ["backend"],
  })
  .meta({ id: "NewAgent" });

export type NewAgent = z.infer<typeof newAgentSchema>;
