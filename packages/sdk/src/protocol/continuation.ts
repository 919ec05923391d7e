import { z } from "zod";
import { continuationKinds } from "./choices.ts";
import { nextSchema } from "./page.ts";

/** What a paused turn waits for, other than approvals: an answer, a webhook, or a time. */
export const continuationSchema = z
  .object({
    id: z.string(),
    kind: z.enum(continuationKinds),
    prompt: z.string().optional(),
    schema: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: "The JSON schema of the answer. Without it, text." }),
    hook: z.string().optional().meta({ description: "The webhook that resumes it." }),
    dueAt: z.string().optional().meta({ description: "When it resumes by itself." }),
    turn: z.string(),
    callId: z.string().optional(),
    createdAt: z.string(),
  })
  .meta({ id: "Continuation", description: "What a paused turn waits for." });

export type Continuation = z.infer<typeof continuationSchema>;

/** A question of an agent to its user, in the inbox over all agents. */
export const questionSchema = continuationSchema
  .pick({ id: true, prompt: true, schema: true, turn: true, callId: true, createdAt: true })
  .extend({ agent: z.string() })
  .meta({ id: "Question", description: "A question of an agent to its user." });

export type Question = z.infer<typeof questionSchema>;

export const questionListSchema = z.object({ questions: z.array(questionSchema), next: nextSchema });

export type QuestionList = z.infer<typeof questionListSchema>;

export const answerSchema = z.strictObject({
  continuationId: z.string().min(1).max(200).optional().meta({ description: "Defaults to the only open question." }),
  value: z.unknown(),
});

export type Answer = z.infer<typeof answerSchema>;
