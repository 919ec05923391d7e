import { z } from "zod";
import { agentNameSchema } from "./name-schemas.ts";
import { codeToolSchema, dataSchema, toolDescription, webhookToolSchema } from "./props.ts";

const ofReplaced = "Defaults to that of the tool whose place it takes.";

const mockToolSchema = z.strictObject({
  name: toolDescription.name,
  description: toolDescription.description.optional().meta({ description: ofReplaced }),
  parameters: toolDescription.parameters.optional().meta({ description: ofReplaced }),
  mock: dataSchema.meta({ description: "What every call returns. It takes the place of a tool with this name." }),
});

export type MockTool = z.infer<typeof mockToolSchema>;

/** A tool that was given to the agents of an agency: a webhook, code, or a mock. */
export const newAgencyToolSchema = z
  .strictObject({
    tool: z.union([webhookToolSchema, codeToolSchema, mockToolSchema], {
      error: "expected {name, description, parameters, webhook: {url}}, {…, code} or {name, mock}",
    }),
    agent: agentNameSchema.optional().meta({ description: "The only agent that gets it. Otherwise all do." }),
  })
  .meta({ id: "NewAgencyTool" });

export type NewAgencyTool = z.infer<typeof newAgencyToolSchema>;

/** A tool defined by data, as an agency gives it to its agents. */
export type AgencyToolDefinition = NewAgencyTool["tool"];

export const agencyToolQuerySchema = z.strictObject({
  agent: agentNameSchema.optional().meta({ description: "The only agent that has it." }),
  kind: z
    .enum(["mock", "tool"])
    .optional()
    .meta({ description: "Only a mock, or only a tool that is none. Otherwise the mock if there is one." }),
});

export type AgencyToolQuery = z.infer<typeof agencyToolQuerySchema>;

export const agencyToolSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    kind: z.enum(["webhook", "code", "mock"]),
    agent: z.string().optional(),
    addedBy: z.string(),
    addedAt: z.string(),
  })
  .meta({ id: "AgencyTool" });

export type AgencyTool = z.infer<typeof agencyToolSchema>;

export const agencyToolListSchema = z.object({ tools: z.array(agencyToolSchema).meta({ description: "By name." }) });

/** A tool that an agent has, and where it comes from. */
export const agentToolSchema = z
  .object({
    name: z.string(),
    aliases: z.array(z.string()).optional().meta({ description: "Other names that a model may use for it." }),
    description: z.string(),
    source: z.string().meta({
      description:
        "`core`, `tags`, `class`, `props`, `agency`, `mock`, `agent <name>`, `middleware <name>`, or a Worker’s own source.",
    }),
    replaces: z.string().optional().meta({ description: "Where the tool comes from whose place a mock takes." }),
    offered: z.boolean().meta({ description: "Whether the model sees it now. It may call any of them." }),
  })
  .meta({ id: "AgentTool" });

export type AgentTool = z.infer<typeof agentToolSchema>;
