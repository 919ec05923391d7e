import { agentNameSchema, defineTool, type InboxItem, priorities, type Tool } from "@thinkery/sdk";
import { z } from "zod";

const maxMessageChars = 1_000_000;

const recipients = z.union([agentNameSchema, z.array(agentNameSchema).min(1).max(50)]);

const channelSend: Tool = {
  ...defineTool(
    {
      name: "channel_send",
      description:
        "Write to others of your agency; each agent you mention (@name) gets a turn. Channel: general, or @name for a direct message.",
      inputSchema: z.object({
        message: z.string().min(1).max(maxMessageChars),
        to: recipients.optional(),
        channel: z.string().min(1).max(140).optional(),
        thread: z.string().max(40).optional(),
        priority: z.enum(priorities).optional(),
      }),
      action: "send",
      idempotent: true,
      onDemand: "channels",
      summarize: () => "sent",
    },
    async ({ message, to, ...rest }, { team }) => {
      const list = typeof to === "string" ? [to] : to;
      const { id, channel, to: woken, unknown } = await team.send({ content: message, to: list, ...rest });
      const names = unknown?.map(({ name, suggestion }) =>
        suggestion ? `@${name} (did you mean @${suggestion}?)` : `@${name}`,
      );
      return { id, channel, to: woken, ...(names ? { notFound: names } : {}) };
    },
  ),
  // Every model call of a team contains this, so it is shorter than what the schema would give.
  parameters: {
    type: "object",
    properties: {
      message: { type: "string" },
      channel: { type: "string" },
      thread: { type: "string" },
    },
    required: ["message"],
  },
};

const channelRead = defineTool(
  {
    name: "channel_read",
    description: "Read the latest messages of a channel, or those since a message or an ISO date.",
    inputSchema: z.object({
      channel: z.string().min(1).max(140).optional(),
      since: z.string().max(60).optional(),
      thread: z.string().max(40).optional(),
      limit: z.int().min(1).max(200).optional(),
    }),
    action: "read",
    idempotent: true,
    parallel: true,
    polls: true,
    onDemand: "team",
  },
  async (page, { team }) => {
    const { messages, next, previous } = await team.readChannel(page);
    return {
      messages: messages.map(({ id, from, content, to, thread, createdAt, resource }) => ({
        id,
        from,
        content,
        ...(to.length > 0 ? { to } : {}),
        ...(thread ? { thread } : {}),
        ...(resource ? { resource } : {}),
        createdAt,
      })),
      ...(next ? { next } : {}),
      ...(previous ? { hasEarlier: true } : {}),
    };
  },
);

const myInbox = defineTool(
  {
    name: "my_inbox",
    description: "List the messages that you still have to handle. They come to you by themselves.",
    inputSchema: z.object({}),
    action: "read",
    idempotent: true,
    parallel: true,
    polls: true,
    onDemand: "team",
  },
  async (_input, { team }) => ({ items: (await team.listInbox()).map(describe) }),
);

const myInboxAck = defineTool(
  {
    name: "my_inbox_ack",
    description: "Mark messages as handled, by their ids or all until one. Those of your turn are when it succeeds.",
    inputSchema: z
      .object({
        ids: z.array(z.string().min(1).max(40)).min(1).max(200).optional(),
        until: z.string().min(1).max(60).optional(),
      })
      .refine(({ ids, until }) => (ids === undefined) !== (until === undefined), { error: "give either ids or until" }),
    action: "ack",
    idempotent: true,
    onDemand: "team",
  },
  async (ack, { team }) => ({ acked: (await team.ack(ack)).map(({ id }) => id) }),
);

const myInboxDefer = defineTool(
  {
    name: "my_inbox_defer",
    description: "Put a message off: it comes again at an ISO date or in so many seconds, by default in five minutes.",
    inputSchema: z.object({
      id: z.string().min(1).max(40),
      until: z.union([z.number().min(1), z.string().min(1).max(60)]).optional(),
    }),
    action: "defer",
    idempotent: true,
    onDemand: "team",
  },
  async (defer, { team }) => describe(await team.defer(defer)),
);

const myStatusSet = defineTool(
  {
    name: "my_status_set",
    description: "Tell your team in a few words what you are doing.",
    inputSchema: z.object({ status: z.string().min(1).max(500), task: z.string().max(500).optional() }),
    action: "status",
    idempotent: true,
    onDemand: "team",
  },
  async ({ status, task }, { team }) => {
    await team.setStatus({ status, task });
    return { status };
  },
);

/** Tools to write to the other members of an agency, and to see what they wrote. */
export const channelTools: readonly Tool[] = [
  channelSend,
  channelRead,
  myInbox,
  myInboxAck,
  myInboxDefer,
  myStatusSet,
] as Tool[];

function describe({ id, from, channel, content, status, attempts, dueAt, thread }: InboxItem) {
  return {
    id,
    from,
    channel,
    content,
    status,
    ...(attempts > 1 ? { attempts } : {}),
    ...(thread ? { thread } : {}),
    ...(dueAt ? { dueAt } : {}),
  };
}
