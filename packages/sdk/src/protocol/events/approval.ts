import { z } from "zod";
import { callDecisionSchema, callPreviewSchema } from "../approval.ts";
import { rememberScopes } from "../choices.ts";

const proposedCallSchema = () => z.object({ toolName: z.string(), args: z.unknown() });

/** Events about tool calls that need approval. */
export const approvalEvents = () => ({
  "hitl.interrupt": z
    .object({
      runId: z.string(),
      step: z.number(),
      approvalId: z.string(),
      proposedToolCalls: z.array(
        proposedCallSchema().extend({
          callId: z.string(),
          why: z.string(),
          preview: callPreviewSchema.optional(),
          remember: z.string().optional(),
        }),
      ),
      digest: z.string(),
      expiresAt: z.string(),
    })
    .describe("Calls of one model response need a person's approval. None of them runs before it is decided."),
  "hitl.resume": z
    .object({
      runId: z.string(),
      approvalId: z.string(),
      approved: z.boolean().describe("Whether any of these calls was approved."),
      modifiedToolCalls: z.array(proposedCallSchema()).optional(),
      decisions: z.array(callDecisionSchema),
      by: z.string().optional().describe("Missing if nobody answered in time."),
      expired: z.boolean().optional(),
      reason: z.string().optional(),
      remember: z.enum(rememberScopes).optional(),
    })
    .describe("Calls were decided. The turn goes on when all of the approval's calls are."),
});
