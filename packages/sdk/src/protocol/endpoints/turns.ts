import { z } from "zod";
import { actionListSchema, actionQuerySchema } from "../action.ts";
import { defineEndpoint } from "../endpoint.ts";
import { eventListSchema, eventQuerySchema } from "../event.ts";
import { agentExportSchema } from "../export.ts";
import { messageListSchema, messageQuerySchema } from "../message.ts";
import { agencyIdSchema, agentNameSchema } from "../name-schemas.ts";
import { routes } from "../routes.ts";
import {
  admissionSchema,
  cancelAnswerSchema,
  cancelSchema,
  invokeSchema,
  jobSchema,
  runSchema,
  serveAnswerSchema,
  stateAnswerSchema,
  toolReportSchema,
} from "../turn.ts";
import { agentUsageAnswerSchema, usageQuerySchema } from "../usage.ts";

export const agentParams = z.object({ agency: agencyIdSchema, agent: agentNameSchema });

const blobParams = agentParams.extend({ hash: z.string().regex(/^[0-9a-f]{64}$/, "64 hexadecimal digits") });

/** How an agent's socket is narrowed, resumed and coalesced. */
const socketQuerySchema = z.strictObject({
  after: eventQuerySchema.shape.after,
  only: z.enum(["chat", "events"]).optional(),
  batch: z.enum(["0", "1"]).optional(),
});

const eventStream = "text/event-stream";

/** Talking to an agent, and reading what came of it. */
export const turnEndpoints = {
  invoke: defineEndpoint({
    ...routes.invoke,
    access: "chat",
    summary: "Give an agent a message. Answered when it is durable, before the turn runs.",
    params: agentParams,
    body: invokeSchema,
    // Attachments come in base64.
    maxBodyBytes: 8 * 1024 * 1024,
    status: 202,
    response: admissionSchema,
  }),
  cancelTurn: defineEndpoint({
    ...routes.cancelTurn,
    access: "chat",
    summary: "Cancel a turn: the running one, or a queued one by its id.",
    params: agentParams,
    body: cancelSchema.default({}),
    response: cancelAnswerSchema,
  }),
  resolveToolCall: defineEndpoint({
    ...routes.resolveToolCall,
    access: "chat",
    summary:
      "Report the answer of a tool call that was deferred. The last one that was waited for lets the turn go on.",
    params: agentParams,
    body: toolReportSchema,
    maxBodyBytes: 9 * 1024 * 1024,
    response: runSchema,
  }),
  getState: defineEndpoint({
    ...routes.getState,
    access: "read",
    summary: "An agent's state and where its latest turn stands.",
    params: agentParams,
    response: stateAnswerSchema,
  }),
  listEvents: defineEndpoint({
    ...routes.listEvents,
    access: "read",
    summary: "The agent's log: a page of it, or live as server-sent events, resumed by Last-Event-ID or `after`.",
    params: agentParams,
    query: eventQuerySchema,
    response: eventListSchema,
    mediaTypes: [eventStream],
  }),
  openSocket: defineEndpoint({
    ...routes.openSocket,
    access: "read",
    summary: "The agent's WebSocket. Sending `chat` and `cancel` needs the scope chat, `approve` the scope approve.",
    params: agentParams,
    query: socketQuerySchema,
    status: 101,
  }),
  listMessages: defineEndpoint({
    ...routes.listMessages,
    access: "read",
    summary: "The conversation in pages, the newest last.",
    params: agentParams,
    query: messageQuerySchema,
    response: messageListSchema,
  }),
  clearMessages: defineEndpoint({
    ...routes.clearMessages,
    access: "chat",
    summary: "Clear the conversation. Refused while a turn runs.",
    params: agentParams,
    status: 204,
  }),
  listActions: defineEndpoint({
    ...routes.listActions,
    access: "read",
    summary: "The action log: what tools did.",
    params: agentParams,
    query: actionQuerySchema,
    response: actionListSchema,
  }),
  getUsage: defineEndpoint({
    ...routes.getUsage,
    access: "read",
    summary: "Tokens and cost of an agent's calls to models, and every budget that holds for it.",
    params: agentParams,
    query: usageQuerySchema,
    response: agentUsageAnswerSchema,
  }),
  exportAgent: defineEndpoint({
    ...routes.exportAgent,
    access: "read",
    summary: "The whole agent: messages, events, actions, usage.",
    params: agentParams,
    response: agentExportSchema,
  }),
  getBlob: defineEndpoint({
    ...routes.getBlob,
    access: "read",
    summary: "A big value that this agent refers to, by its hash.",
    params: blobParams,
    mediaTypes: ["application/octet-stream"],
  }),
  run: defineEndpoint({
    ...routes.run,
    access: "chat",
    summary:
      "Do a job and stream what happens: chunk, reasoning, tool_call, tool_result, retrying, done, error, each with its agent.",
    body: jobSchema,
    mediaTypes: [eventStream],
  }),
  serve: defineEndpoint({
    ...routes.serve,
    access: "chat",
    summary: "Do a job and answer when it is done.",
    body: jobSchema,
    response: serveAnswerSchema,
  }),
} as const;
