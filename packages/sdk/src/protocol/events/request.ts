import { z } from "zod";
import { modes } from "../choices.ts";
import { attachmentSchema } from "../message.ts";
import { propsSchema } from "../props.ts";
import { daySpendingSchema } from "../subagent.ts";
import { usageSchema } from "../turn-usage.ts";
import { storedAppSchema } from "./app.ts";

const sentMessageSchema = () =>
  z
    .object({
      id: z.string(),
      role: z.enum(["user", "assistant"]),
      content: z.string(),
      attachments: z.array(attachmentSchema).optional(),
    })
    .describe("A message as it was sent, before it has a position in the conversation.");

export const senderSchema = () =>
  z
    .object({ user: z.string(), context: z.record(z.string(), z.string()) })
    .describe("Who sent it and from where, as stated by the request; never a credential.");

const clearedUsageSchema = () =>
  usageSchema
    .extend({
      model: z.string(),
      calls: z.number(),
      ms: z.number().optional(),
      day: z.string().optional().describe("Missing if it was cleared before usage was recorded per day."),
      priced: z
        .object({ calls: z.number(), costUsd: z.number() })
        .optional()
        .describe("The total of the calls with a known price, if the price of some is unknown."),
    })
    .describe("The usage of a model on one day, before the history was cleared.");

export type SentMessage = z.infer<ReturnType<typeof sentMessageSchema>>;
export type Sender = z.infer<ReturnType<typeof senderSchema>>;
export type ClearedUsage = z.infer<ReturnType<typeof clearedUsageSchema>>;

/** Events about incoming messages and their position in the conversation. */
export const requestEvents = () => ({
  "thread.created": z.object({ threadId: z.string() }),
  "request.accepted": z.object({
    runId: z.string(),
    idempotencyKey: z.string(),
    mode: z.enum(modes),
    joined: z.boolean().optional().describe("It joined this running turn instead of starting its own."),
    position: z.number().describe("Number of turns before it when it was accepted."),
    from: senderSchema(),
    messages: z.array(sentMessageSchema()),
    props: propsSchema.optional(),
  }),
  "message.delivered": z
    .object({ runId: z.string(), messageIds: z.array(z.string()) })
    .describe("Messages that joined a running turn got their position, before this step."),
  "message.requeued": z
    .object({ runId: z.string(), fromRunId: z.string(), messageIds: z.array(z.string()) })
    .describe("The turn that these messages joined ended without them. They are queued as a new turn."),
  "agent.stopped": z
    .object({ by: z.string() })
    .describe("The agent accepts nothing until it is started again. Its turn is canceled, queued ones wait."),
  "agent.resumed": z.object({ by: z.string() }).describe("The agent was started again."),
  "history.cleared": z
    .object({
      by: z.string(),
      usage: z.array(clearedUsageSchema()),
      subagents: z.array(daySpendingSchema).optional().describe("What the sub-agents have spent."),
      app: storedAppSchema().optional(),
      stoppedBy: z.string().optional(),
    })
    .describe("The conversation was cleared. Its usage and the app are kept."),
});
