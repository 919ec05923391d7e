import { z } from "zod";
import { priorities, senderKinds } from "./choices.ts";
import { agentNameSchema, channelNameSchema } from "./name-schemas.ts";
import { maxMessageChars } from "./names.ts";
import { nextSchema, pageQuerySchema } from "./page.ts";

/** Longer messages are stored as a resource, and the channel has their beginning. */
export const maxInlineChars = 64 * 1024;

export const channelSchema = z
  .object({
    name: z.string(),
    kind: z.enum(["channel", "direct"]).meta({ description: "A direct channel has the messages between two members." }),
    description: z.string().optional(),
    members: z.array(z.string()).optional().meta({ description: "The two members of a direct channel." }),
    createdBy: z.string(),
    createdAt: z.string(),
    messages: z.number().meta({ description: "How many there are." }),
    lastMessageAt: z.string().optional(),
  })
  .meta({ id: "Channel", description: "A log of messages that the members of an agency write." });

export type Channel = z.infer<typeof channelSchema>;

export const channelListSchema = z.object({ channels: z.array(channelSchema), next: nextSchema });

export const newChannelSchema = z
  .strictObject({ name: channelNameSchema, description: z.string().trim().max(500).optional() })
  .meta({ id: "NewChannel" });

export type NewChannel = z.infer<typeof newChannelSchema>;

export const channelMessageSchema = z
  .object({
    id: z.string().meta({ description: "Later messages of an agency have higher numbers: `msg-12` is after `msg-9`." }),
    channel: z.string(),
    from: z.string(),
    fromKind: z.enum(senderKinds),
    content: z.string().meta({ description: "Of a long message, its beginning." }),
    resource: z.string().optional().meta({ description: "The hash of the resource with a long message in full." }),
    size: z.number().optional().meta({ description: "Characters of a long message." }),
    to: z.array(z.string()).meta({ description: "The agents that get it: mentioned ones, and those in `to`." }),
    thread: z.string().optional().meta({ description: "The message that it answers." }),
    replies: z.number().optional().meta({ description: "How many messages answer it." }),
    priority: z.enum(priorities).optional(),
    createdAt: z.string(),
  })
  .meta({ id: "ChannelMessage" });

export type ChannelMessage = z.infer<typeof channelMessageSchema>;

const recipientsSchema = z.union([agentNameSchema, z.array(agentNameSchema).min(1).max(50)]);

const messageFields = {
  to: recipientsSchema.optional().meta({ description: "Agents that get it, in addition to those it mentions." }),
  thread: z.string().max(40).optional().meta({ description: "The message to answer." }),
  priority: z.enum(priorities).optional(),
};

export const newChannelMessageSchema = z
  .strictObject({
    content: z
      .string()
      .max(maxMessageChars)
      .refine((text) => text.trim() !== "", { error: "must not be empty" })
      .meta({ description: "Mention agents as @name. Text in code is not searched for mentions." }),
    ...messageFields,
    idempotencyKey: z.string().min(1).max(200).optional(),
  })
  .meta({ id: "NewChannelMessage" });

export type NewChannelMessage = z.infer<typeof newChannelMessageSchema>;

export const postedMessageSchema = channelMessageSchema
  .extend({
    unknown: z
      .array(z.object({ name: z.string(), suggestion: z.string().optional() }))
      .optional()
      .meta({ description: "Mentions that name nobody." }),
    duplicate: z.boolean().optional().meta({ description: "The key was used before; nothing was posted." }),
  })
  .meta({ id: "PostedMessage" });

export type PostedMessage = z.infer<typeof postedMessageSchema>;

const boundary = z.string().min(1).max(60);

export const channelQuerySchema = pageQuerySchema.extend({
  since: boundary.optional().meta({ description: "Only messages after this one, or at or after this ISO date." }),
  until: boundary.optional().meta({ description: "Only messages up to this one, or up to this ISO date." }),
  thread: z.string().max(40).optional().meta({ description: "Only this message and what answers it." }),
  before: z.string().max(40).optional().meta({ description: "The page that ends before this message." }),
  newest: z.literal("1").optional().meta({ description: "The last page in place of the first." }),
});

export type ChannelQuery = z.infer<typeof channelQuerySchema>;

export const channelMessageListSchema = z.object({
  messages: z.array(channelMessageSchema).meta({ description: "Oldest first." }),
  next: nextSchema,
  previous: z.string().optional().meta({ description: "Pass it as `before` for the page before this one." }),
});

export type ChannelMessageList = z.infer<typeof channelMessageListSchema>;
