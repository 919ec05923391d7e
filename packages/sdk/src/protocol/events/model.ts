import { z } from "zod";
import { modelRoles } from "../choices.ts";
import { toolCallSchema } from "../message.ts";
import { contextSchema, usageSchema } from "../turn.ts";

/** Calls to models, and what they are told of the conversation. */
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
    .describe("A call to the model failed. With `retryInMs`, it will be made again."),
  "model.generated": z
    .object({
      runId: z.string(),
      step: z.number(),
      role: z.enum(modelRoles),
      model: z.string(),
      purpose: z.string(),
      usage: usageSchema,
      ms: z.number(),
    })
    .describe("A call to a model beside the conversation: a summary, a quick check."),
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
      "From now on the model is told a shorter conversation: of tool results up to `shortened` only the beginning, " +
        "and in place of everything up to `upTo` the summary, with the turn's request if that is part of it. " +
        "The messages themselves stay.",
    ),
});
