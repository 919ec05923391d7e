import { z } from "zod";
import { actionListSchema, actionQuerySchema } from "../action.ts";
import { diskUsageSchema } from "../collection.ts";
import { defineEndpoint } from "../endpoint.ts";
import { eventListSchema, eventQuerySchema, eventSchema } from "../event.ts";
import { agentExportSchema } from "../export.ts";
import { clientFrameSchema, createServerFrameSchema } from "../frame.ts";
import { createJobEventSchema } from "../job-event.ts";
import { messageListSchema, messageQuerySchema } from "../message.ts";
import { agentNameSchema } from "../name-schemas.ts";
import { routes } from "../routes.ts";
import {
  admissionSchema,
  cancelResponseSchema,
  cancelSchema,
  invokeSchema,
  jobSchema,
  lifecycleResponseSchema,
  runSchema,
  serveResponseSchema,
  stateResponseSchema,
  toolCallResolutionSchema,
} from "../turn.ts";
import { agentUsageResponseSchema, usageQuerySchema } from "../usage.ts";
import { agencyParams } from "./agency-params.ts";

export const agentParams = agencyParams.extend({ agent: agentNameSchema });

const blobParams = agentParams.extend({ hash: z.string().regex(/^[0-9a-f]{64}$/, "expected 64 hexadecimal digits") });

/** Options of an agent's WebSocket: filtering, resumption and batching. */
const socketQuerySchema = z.strictObject({
  after: eventQuerySchema.shape.after,
  only: z.enum(["chat", "events"]).optional(),
  batch: z.enum(["0", "1"]).optional(),
});

const eventStream = "text/event-stream";

/** Endpoints to talk to an agent and to read its conversation. */
export const turnEndpoints = {
  invoke: defineEndpoint({
    ...routes.invoke,
    access: "chat",
    summary: "Send a message to an agent. Returns when the message is stored, before the turn runs.",
    params: agentParams,
    body: invokeSchema,
    // Attachments are encoded as base64.
    maxBodyBytes: 8 * 1024 * 1024,
    status: 202,
    response: admissionSchema,
  }),
  cancelTurn: defineEndpoint({
    ...routes.cancelTurn,
    access: "chat",
    summary: "Cancel the running turn, or a queued one by id.",
    params: agentParams,
    body: cancelSchema.default({}),
    response: cancelResponseSchema,
  }),
  stopAgent: defineEndpoint({
    ...routes.stopAgent,
    access: "chat",
    summary:
      "Stop an agent: its turn is canceled, queued turns wait, and new messages are refused until it is started.",
    params: agentParams,
    response: lifecycleResponseSchema,
  }),
  startAgent: defineEndpoint({
    ...routes.startAgent,
    access: "chat",
    summary: "Start an agent that was stopped. Queued turns run.",
    params: agentParams,
    response: lifecycleResponseSchema,
  }),
  resolveToolCall: defineEndpoint({
    ...routes.resolveToolCall,
    access: "chat",
    summary: "Deliver the result of a deferred tool call. The turn continues when all results are in.",
    params: agentParams,
    body: toolCallResolutionSchema,
    maxBodyBytes: 9 * 1024 * 1024,
    response: runSchema,
  }),
  getState: defineEndpoint({
    ...routes.getState,
    access: "read",
    summary: "Get an agent's state and the status of its latest turn.",
    params: agentParams,
    response: stateResponseSchema,
  }),
  listEvents: defineEndpoint({
    ...routes.listEvents,
    access: "read",
    summary:
      "List events of the agent's log, or follow it as server-sent events. Resume with `Last-Event-ID` or `after`.",
    params: agentParams,
    query: eventQuerySchema,
    response: eventListSchema,
    mediaTypes: [eventStream],
    eventStream: () => eventSchema,
  }),
  openSocket: defineEndpoint({
    ...routes.openSocket,
    access: "read",
    summary:
      "Open the agent's WebSocket. Sending `chat` and `cancel` requires the scope chat, `approve` the scope approve.",
    params: agentParams,
    query: socketQuerySchema,
    status: 101,
    frames: { client: () => clientFrameSchema, server: createServerFrameSchema },
  }),
  listMessages: defineEndpoint({
    ...routes.listMessages,
    access: "read",
    summary: "List an agent's messages, newest last.",
    params: agentParams,
    query: messageQuerySchema,
    response: messageListSchema,
  }),
  clearMessages: defineEndpoint({
    ...routes.clearMessages,
    access: "chat",
    summary: "Clear the conversation. Fails while a turn is running.",
    params: agentParams,
    status: 204,
  }),
  listActions: defineEndpoint({
    ...routes.listActions,
    access: "read",
    summary: "List the action log: what the agent's tools did.",
    params: agentParams,
    query: actionQuerySchema,
    response: actionListSchema,
  }),
  getUsage: defineEndpoint({
    ...routes.getUsage,
    access: "read",
    summary: "Get the tokens and cost of an agent's model calls, and the status of all budgets that apply to it.",
    params: agentParams,
    query: usageQuerySchema,
    response: agentUsageResponseSchema,
  }),
  getDiskUsage: defineEndpoint({
    ...routes.getDiskUsage,
    access: "read",
    summary: "Get the disk space that an agent's files, branches, conversation and blobs take.",
    params: agentParams,
    response: diskUsageSchema,
  }),
  exportAgent: defineEndpoint({
    ...routes.exportAgent,
    access: "read",
    summary: "Export an agent: messages, events, actions and usage.",
    params: agentParams,
    response: agentExportSchema,
  }),
  getBlob: defineEndpoint({
    ...routes.getBlob,
    access: "read",
    summary: "Get a large value that the agent refers to, by its hash.",
    params: blobParams,
    mediaTypes: ["application/octet-stream"],
  }),
  run: defineEndpoint({
    ...routes.run,
    access: "chat",
    summary:
      "Run a job and stream its events: chunk, reasoning, tool_call, tool_result, approval, question, retrying, done and error, each with its agent. While a turn waits for a person, the stream stays open.",
    body: jobSchema,
    mediaTypes: [eventStream],
    eventStream: createJobEventSchema,
  }),
  serve: defineEndpoint({
    ...routes.serve,
    access: "chat",
    summary:
      "Run a job and return its result when it is done. If a turn waits for a person, the response is 409 with the `approvals` and `questions` in the error's details. The turn stays: once they are answered, the same request with the same `idempotencyKey` returns the result.",
    body: jobSchema,
    response: serveResponseSchema,
  }),
} as const;
