import { z } from "zod";
import { modes } from "../choices.ts";
import { attachmentSchema } from "../message.ts";
import { propsSchema } from "../props.ts";
import { usageSchema } from "../turn.ts";
import { storedAppSchema } from "./app.ts";

const saidSchema = () =>
  z
    .object({
      id: z.string(),
      role: z.enum(["user", "assistant"]),
      content: z.string(),
      attachments: z.array(attachmentSchema).optional(),
    })
    .describe("A message as it was sent, before it has a place in the conversation.");

const senderSchema = () =>
  z
    .object({ user: z.string(), context: z.record(z.string(), z.string()) })
    .describe("Who sent it, and from where: what the request itself says, never a credential.");

const clearedUsageSchema = () =>
  usageSchema
    .extend({
      model: z.string(),
      calls: z.number(),
      ms: z.number().optional(),
      day: z.string().optional().describe("missing in what was cleared before usage was kept by day"),
      priced: z
        .object({ calls: z.number(), costUsd: z.number() })
        .optional()
        .describe("if the price of some calls is unknown: the total of the others"),
    })
    .describe("What a model was used on one day before the history was cleared.");

export type Said = z.infer<ReturnType<typeof saidSchema>>;
export type Sender = z.infer<ReturnType<typeof senderSchema>>;
export type ClearedUsage = z.infer<ReturnType<typeof clearedUsageSchema>>;

/** What comes in from outside, and where it ends up in the conversation. */
export const requestEvents = () => ({
  "thread.created": z.object({ threadId: z.string() }),
  "request.accepted": z.object({
    runId: z.string(),
    idempotencyKey: z.string(),
    mode: z.enum(modes),
    joined: z.boolean().optional().describe("it joined this running turn instead of starting its own"),
    position: z.number().describe("turns that went first when it was accepted"),
    from: senderSchema(),
    messages: z.array(saidSchema()),
    props: propsSchema.optional(),
  }),
  "message.delivered": z
    .object({ runId: z.string(), messageIds: z.array(z.string()) })
    .describe("Messages that joined a running turn have their place now: before this step."),
  "message.requeued": z
    .object({ runId: z.string(), fromRunId: z.string(), messageIds: z.array(z.string()) })
    .describe("The turn they had joined ended without them: they wait as a turn of their own."),
  "history.cleared": z
    .object({ by: z.string(), usage: z.array(clearedUsageSchema()), app: storedAppSchema().optional() })
    .describe("The conversation is forgotten. What it cost is kept, and an app stays."),
});
