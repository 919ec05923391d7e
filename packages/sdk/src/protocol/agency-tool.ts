import { z } from "zod";
import { agentNameSchema } from "./name-schemas.ts";
import { codeToolSchema, toolNameSchema, webhookToolSchema } from "./props.ts";

const mockToolSchema = z.strictObject({
  name: toolNameSchema,
  description: z.string().min(1).max(4000).default("A mock."),
  parameters: z.record(z.string(), z.json()).optional(),
  mock: z.json().meta({ description: "What every call returns. It takes the place of a tool with this name." }),
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

export const agencyToolListSchema = z.object({ tools: z.array(agencyToolSchema) });
