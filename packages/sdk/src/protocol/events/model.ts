import { z } from "zod";
import { modelRoles } from "../choices.ts";
import { toolCallSchema } from "../message.ts";
import { usageSchema } from "../turn-usage.ts";
import { contextSchema } from "../turn.ts";

/** Events about model calls and the context that models get. */
export const modelEvents = () => ({
  "model.started": z.object({
    runId: z.string(),
    step: z.number(),
    messageId: z.string(),
    model: z.string(),
    attempt: z.number(),
  }),
  "model.delta": z.object({ runId: z.string(), delta: z.string().optional(), reasoning: z.string().optional() }),
  "model.completed": z.object({
    runId: z.string(),
    step: z.number(),
    messageId: z.string(),
    model: z.string(),
    finish: z.string(),
    usage: usageSchema,
    ms: z.number(),
    toolCalls: z.array(toolCallSchema.extend({ malformed: z.string().optional() })),
    replay: z.unknown().optional(),
    context: contextSchema.optional(),
  }),
  "model.failed": z
    .object({
      runId: z.string(),
      step: z.number(),
      attempt: z.number(),
      kind: z.string(),
      error: z.string(),
      retryInMs: z.number().optional(),
    })
    .describe("A model call failed. With `retryInMs`, it will be retried."),
  "model.generated": z
    .object({
      runId: z.string(),
      step: z.number(),
      role: z.enum(modelRoles).optional().describe("Missing if the model was chosen by its id."),
      model: z.string(),
      purpose: z.string(),
      usage: usageSchema,
      ms: z.number(),
      context: contextSchema.optional().describe("How full the model's context was, in calls that code makes."),
    })
    .describe("A model call outside the conversation, such as a summary, a quick check, or one that code makes."),
  "context.compacted": z
    .object({
      runId: z.string(),
      step: z.number(),
      shortened: z.number(),
      upTo: z.number().optional(),
      summary: z.string().optional(),
      request: z.string().optional(),
      before: z.number(),
      after: z.number(),
    })
    .describe(
      "From now on the model gets a shorter conversation: only the beginning of tool results up to `shortened`, " +
        "and the summary in place of everything up to `upTo`, with the turn's request if that is part of it. " +
        "The messages themselves are kept.",
    ),
});
