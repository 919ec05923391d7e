import { z } from "zod";
import { actionSchema } from "./action.ts";
import { approvalAnswerFields } from "./approval.ts";
import { modes } from "./choices.ts";
import { answerSchema } from "./continuation.ts";
import { type AgentEvent, eventSchema } from "./event.ts";
import { messageSchema } from "./message.ts";
import { agentStatusSchema, newAttachmentSchema, textSchema } from "./turn.ts";

/** Frames that a client may send over an agent's WebSocket. */
export const clientFrameSchema = z
  .discriminatedUnion("type", [
    z.strictObject({
      type: z.literal("chat"),
      id: z.string().min(1).max(200),
      content: textSchema,
      attachments: z.array(newAttachmentSchema).max(20).optional(),
      mode: z.enum(modes).default("queue"),
    }),
    z.strictObject({ type: z.literal("cancel"), runId: z.string().max(200).optional() }),
    approvalAnswerFields.extend({ type: z.literal("approve") }),
    answerSchema.extend({ type: z.literal("answer") }),
    /** Acknowledges received frames. Clients that never do are disconnected after some megabytes; they may resume. */
    z.strictObject({ type: z.literal("ack") }),
    /** Subscribes to the action log, or unsubscribes. */
    z.strictObject({ type: z.literal("actions"), on: z.boolean() }),
  ])
  .meta({ id: "ClientFrame", description: "A frame that a client may send over an agent's WebSocket." });

export type ClientFrame = z.infer<typeof clientFrameSchema>;

/** What a sub-agent does that was delegated to with `streaming`, at any depth. Text is to be appended. */
const createSubagentFrameSchemas = () => {
  const taskId = z.string().meta({ description: "The task that the sub-agent works on." });
  return [
    z.object({ type: z.literal("subagent_text_delta"), taskId, delta: z.string() }),
    z.object({ type: z.literal("subagent_tool_call"), taskId, toolName: z.string(), input: z.unknown() }),
    z.object({ type: z.literal("subagent_tool_result"), taskId, toolName: z.string(), output: z.string() }),
    z.object({ type: z.literal("subagent_complete"), taskId, result: z.string() }),
    z.object({ type: z.literal("subagent_error"), taskId, error: z.string() }),
  ] as const;
};

/** What the code of an agent shows while it works. `thinking` is to be appended; `idle` ends an action. */
const activitySchema = () =>
  z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("thinking"), text: z.string() }),
    z.object({ kind: z.literal("action"), tool: z.string(), args: z.unknown() }),
    z.object({ kind: z.literal("idle") }),
  ]);

export type Activity = z.infer<ReturnType<typeof activitySchema>>;

const createChatFrameSchema = () => {
  const taskId = z.string().meta({ description: "The id of the turn." });
  const messages = z.array(messageSchema);
  return z
    .discriminatedUnion("type", [
      z.object({ type: z.literal("status"), status: agentStatusSchema.shape.status }),
      z.object({ type: z.literal("text_delta"), delta: z.string(), messageId: z.string() }),
      z.object({ type: z.literal("text_done"), messageId: z.string() }),
      z.object({ type: z.literal("reasoning"), content: z.string(), messageId: z.string() }),
      z.object({
        type: z.literal("tool_call"),
        id: z.string(),
        name: z.string(),
        input: z.unknown(),
        runId: z.string(),
      }),
      z.object({
        type: z.literal("tool_result"),
        callId: z.string(),
        name: z.string(),
        output: z.string(),
        failed: z.boolean().optional(),
        blob: z.string().optional(),
        runId: z.string(),
      }),
      z
        .object({ type: z.literal("tool_progress"), callId: z.string(), text: z.string(), runId: z.string() })
        .describe("Progress of a running call, to append to earlier progress."),
      z
        .object({ type: z.literal("activity"), runId: z.string(), activity: activitySchema() })
        .describe("What the code of an agent shows while it works. Never stored."),
      z.object({
        type: z.literal("chat"),
        message: z.object({ role: z.literal("assistant"), content: z.string() }),
      }),
      z.object({ type: z.literal("message-complete"), message: messageSchema }),
      z.object({
        type: z.literal("error"),
        error: z.string(),
        code: z.string().optional(),
        advice: z.string().optional(),
        id: z.string().optional(),
      }),
      z.object({ type: z.literal("warning"), warning: z.string() }).describe("A failure that does not stop the turn."),
      z.object({ type: z.literal("history"), messages }),
      z
        .object({ type: z.literal("sync"), state: agentStatusSchema, last: z.number() })
        .describe("`last` is the number of the latest event: a client that resumes there misses nothing."),
      z.object({ type: z.literal("pending-message"), message: messageSchema }),
      z
        .object({ type: z.literal("task-queued"), id: z.string(), taskId, position: z.number(), messages })
        .describe("`id` is the id that the sender gave the message."),
      z.object({
        type: z.literal("task-retrying"),
        taskId,
        error: z.string(),
        attempt: z.number(),
        retryIn: z.number(),
      }),
      z.object({ type: z.literal("task-complete"), taskId }),
      z.object({ type: z.literal("task-failed"), taskId, error: z.string(), attempts: z.number() }),
      z.object({ type: z.literal("task-canceled"), taskId }),
      z.object({ type: z.literal("action"), action: actionSchema }),
      ...createSubagentFrameSchemas(),
    ])
    .meta({ id: "ChatFrame", description: "A live chat frame. Unlike events, it has no number." });
};

/** Live chat frames. Unlike events, they have no number. `taskId` is the id of the turn. */
export type ChatFrame = z.infer<ReturnType<typeof createChatFrameSchema>>;

/** A frame about a sub-agent that streams. */
export type SubagentFrame = z.infer<ReturnType<typeof createSubagentFrameSchemas>[number]>;

/** All frames that an agent sends. `batch` is only sent to clients that connect with `?batch=1`. */
export type ServerFrame = ChatFrame | AgentEvent | { type: "batch"; frames: (ChatFrame | AgentEvent)[] };

/** Builds the schema of server frames. A function, because only the OpenAPI document needs it. */
export function createServerFrameSchema(): z.ZodType<ServerFrame> {
  const frame = z.union([createChatFrameSchema(), eventSchema]);
  return z
    .union([frame, z.object({ type: z.literal("batch"), frames: z.array(frame) })])
    .meta({ id: "ServerFrame", description: "A frame that an agent sends over its WebSocket." });
}
