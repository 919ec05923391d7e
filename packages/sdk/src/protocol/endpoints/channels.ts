import { z } from "zod";
import {
  channelListSchema,
  channelMessageListSchema,
  channelQuerySchema,
  channelSchema,
  newChannelMessageSchema,
  newChannelSchema,
  postedMessageSchema,
} from "../channel.ts";
import { defineEndpoint } from "../endpoint.ts";
import {
  inboxAckSchema,
  inboxChangeSchema,
  inboxDeferSchema,
  inboxItemListSchema,
  inboxQuerySchema,
  inboxRetrySchema,
} from "../inbox.ts";
import { agentNameSchema } from "../name-schemas.ts";
import { pageQuerySchema } from "../page.ts";
import { routes } from "../routes.ts";
import { agencyParams } from "./agency-params.ts";

const channelParams = agencyParams.extend({
  channel: z.string().min(1).max(140).meta({ description: "A name, or `@alice` for direct messages with alice." }),
});
const inboxParams = agencyParams.extend({ agent: agentNameSchema });

/** Endpoints for channels, and for what agents have to handle of them. */
export const channelEndpoints = {
  listChannels: defineEndpoint({
    ...routes.listChannels,
    access: "read",
    summary: "List the channels of an agency, also the direct ones of its agents.",
    params: agencyParams,
    query: pageQuerySchema,
    response: channelListSchema,
  }),
  createChannel: defineEndpoint({
    ...routes.createChannel,
    access: "chat",
    summary: "Create a channel.",
    params: agencyParams,
    body: newChannelSchema,
    status: 201,
    response: channelSchema.extend({ id: z.string() }),
  }),
  deleteChannel: defineEndpoint({
    ...routes.deleteChannel,
    access: "admin",
    summary: "Delete a channel with its messages. The channel general stays.",
    params: channelParams,
    status: 204,
  }),
  listChannelMessages: defineEndpoint({
    ...routes.listChannelMessages,
    access: "read",
    summary: "List the messages of a channel, oldest first.",
    params: channelParams,
    query: channelQuerySchema,
    response: channelMessageListSchema,
  }),
  postChannelMessage: defineEndpoint({
    ...routes.postChannelMessage,
    access: "chat",
    summary: "Post a message. Agents that it mentions, or that are in `to`, get a turn.",
    params: channelParams,
    body: newChannelMessageSchema,
    maxBodyBytes: 8 * 1024 * 1024,
    status: 201,
    response: postedMessageSchema,
  }),
  listInbox: defineEndpoint({
    ...routes.listInbox,
    access: "read",
    summary: "List what is in the inbox of an agent, oldest first.",
    params: inboxParams,
    query: inboxQuerySchema,
    response: inboxItemListSchema,
  }),
  ackInbox: defineEndpoint({
    ...routes.ackInbox,
    access: "chat",
    summary: "Mark items as handled, so that their agent need not handle them.",
    params: inboxParams,
    body: inboxAckSchema,
    response: inboxChangeSchema,
  }),
  deferInbox: defineEndpoint({
    ...routes.deferInbox,
    access: "chat",
    summary: "Put an item off until later.",
    params: inboxParams,
    body: inboxDeferSchema,
    response: inboxChangeSchema,
  }),
  retryInbox: defineEndpoint({
    ...routes.retryInbox,
    access: "chat",
    summary: "Deliver items again that were given up or deferred.",
    params: inboxParams,
    body: inboxRetrySchema,
    response: inboxChangeSchema,
  }),
} as const;
