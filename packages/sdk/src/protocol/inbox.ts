import { z } from "zod";
import { inboxStatuses, priorities, senderKinds } from "./choices.ts";
import { nextSchema, pageQuerySchema } from "./page.ts";

export const inboxItemSchema = z
  .object({
    id: z.string().meta({ description: "The id of the message." }),
    agent: z.string(),
    channel: z.string(),
    from: z.string(),
    fromKind: z.enum(senderKinds),
    content: z.string(),
    resource: z.string().optional(),
    thread: z.string().optional(),
    status: z.enum(inboxStatuses),
    priority: z.enum(priorities),
    attempts: z.number().meta({ description: "Turns that were to handle it." }),
    error: z.string().optional().meta({ description: "Why the last one did not." }),
    dueAt: z.string().optional().meta({ description: "When it comes again." }),
    runId: z.string().optional().meta({ description: "The turn that has it." }),
    createdAt: z.string(),
  })
  .meta({ id: "InboxItem", description: "A channel message that an agent has to handle." });

export type InboxItem = z.infer<typeof inboxItemSchema>;

export const inboxItemListSchema = z.object({ items: z.array(inboxItemSchema), next: nextSchema });

export type InboxItemList = z.infer<typeof inboxItemListSchema>;

export const inboxChangeSchema = z.object({
  items: z.array(inboxItemSchema),
  omitted: z.number().optional().meta({ description: "How many more were changed than are listed." }),
});

export type InboxChange = z.infer<typeof inboxChangeSchema>;

export const inboxQuerySchema = pageQuerySchema.extend({
  status: z
    .enum([...inboxStatuses, "open", "all"])
    .default("open")
    .meta({ description: "`open`: everything that is not final." }),
});

export type InboxQuery = z.infer<typeof inboxQuerySchema>;

export const inboxCountsSchema = z.object({
  pending: z.number(),
  seen: z.number(),
  deferred: z.number(),
  givenUp: z.number(),
});

export type InboxCounts = z.infer<typeof inboxCountsSchema>;

const idsSchema = z.array(z.string().min(1).max(40)).min(1).max(500);

export const inboxAckSchema = z
  .strictObject({
    ids: idsSchema.optional(),
    until: z.string().min(1).max(60).optional().meta({ description: "All up to this message or ISO date." }),
  })
  .refine(({ ids, until }) => (ids === undefined) !== (until === undefined), {
    error: "give either ids or until",
    path: ["ids"],
  })
  .meta({ id: "InboxAck" });

export type InboxAck = z.infer<typeof inboxAckSchema>;

export const inboxDeferSchema = z
  .strictObject({
    id: z.string().min(1).max(40),
    until: z
      .union([
        z
          .number()
          .min(1)
          .max(366 * 24 * 3600),
        z.string().min(1).max(60),
      ])
      .optional()
      .meta({ description: "Seconds from now, or an ISO date. Five minutes from now by default." }),
  })
  .meta({ id: "InboxDefer" });

export type InboxDefer = z.infer<typeof inboxDeferSchema>;

export const inboxRetrySchema = z.strictObject({ ids: idsSchema }).meta({ id: "InboxRetry" });
