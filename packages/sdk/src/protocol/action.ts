import { z } from "zod";

/** An entry of the action log: which tool did what, without the content it worked on. */
export const actionSchema = z
  .object({
    id: z.string(),
    sessionId: z.string().meta({ description: "The name of the agent's object, as `agency~agent`." }),
    timestamp: z.number(),
    tool: z.string(),
    action: z.string(),
    input: z.string().meta({ description: "The shortened input, without secrets." }),
    outputSummary: z.string().optional(),
    durationMs: z.number(),
    success: z.boolean(),
    error: z.string().optional(),
    messageId: z.string().optional(),
    runId: z.string(),
    agent: z.string().optional().meta({ description: "The sub-agent that acted, if it was not the agent itself." }),
  })
  .meta({ id: "Action" });

export type Action = z.infer<typeof actionSchema>;

export const actionListSchema = z.object({ actions: z.array(actionSchema), next: z.string().optional() });

export const actionQuerySchema = z.strictObject({
  tool: z.string().max(200).optional(),
  success: z.enum(["true", "false"]).optional(),
  message: z.string().max(200).optional(),
  since: z.coerce.number().int().min(0).optional().meta({ description: "Milliseconds since 1970." }),
  limit: z.coerce.number().int().min(1).max(500).default(100),
  after: z.string().max(200).optional(),
});

export type ActionQuery = z.infer<typeof actionQuerySchema>;
