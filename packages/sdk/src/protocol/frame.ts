import { z } from "zod";
import type { Action } from "./action.ts";
import { modes } from "./choices.ts";
import type { AgentEvent } from "./event.ts";
import type { Message, MessageToolCall } from "./message.ts";
import { type AgentStatus, newAttachmentSchema, textSchema } from "./turn.ts";

/** A person's word on tool calls that wait for one. */
const approvalSchema = z.strictObject({
  approvalId: z.string().min(1).max(200).optional().meta({ description: "the only one that waits, if none is named" }),
  approved: z.boolean(),
  reason: z.string().max(10_000).optional(),
  modifiedToolCalls: z
    .array(z.strictObject({ toolName: z.string().min(1).max(200), args: z.unknown() }))
    .max(200)
    .optional(),
});

export type Approval = z.infer<typeof approvalSchema>;

/** What a client may send over an agent's socket. */
export const clientFrameSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("chat"),
    id: z.string().min(1).max(200),
    content: textSchema,
    attachments: z.array(newAttachmentSchema).max(20).optional(),
    mode: z.enum(modes).default("queue"),
  }),
  z.strictObject({ type: z.literal("cancel"), runId: z.string().max(200).optional() }),
  approvalSchema.extend({ type: z.literal("approve") }),
  /** “I have read what you sent”: whoever never says so is cut off after some megabytes and may resume. */
  z.strictObject({ type: z.literal("ack") }),
  /** From now on (or no more), actions are sent as they are logged. */
  z.strictObject({ type: z.literal("actions"), on: z.boolean() }),
]);

export type ClientFrame = z.infer<typeof clientFrameSchema>;

/** The chat vocabulary: live, without numbers. `taskId` is the turn's id. */
export type ChatFrame =
  | { type: "status"; status: AgentStatus["status"] }
  | { type: "text_delta"; delta: string; messageId: string }
  | { type: "text_done"; messageId: string }
  | { type: "reasoning"; content: string; messageId: string }
  | { type: "tool_call"; id: string; name: string; input: unknown; runId: string }
  | {
      type: "tool_result";
      callId: string;
      name: string;
      output: string;
      failed?: boolean;
      blob?: string;
      runId: string;
    }
  /** What a call that is under way has to show, after what it showed before. */
  | { type: "tool_progress"; callId: string; text: string; runId: string }
  | { type: "chat"; message: { role: "assistant"; content: string } }
  | { type: "message-complete"; message: Message }
  | { type: "error"; error: string; code?: string; advice?: string; id?: string }
  /** Something went wrong that the turn can do without. */
  | { type: "warning"; warning: string }
  | { type: "history"; messages: Message[] }
  /** `last` is the number of the latest event: a client that goes on from there misses nothing. */
  | { type: "sync"; state: AgentStatus; last: number }
  | { type: "pending-message"; message: Message }
  /** `id` is what the sender called it. */
  | { type: "task-queued"; id: string; taskId: string; position: number; messages: Message[] }
  | { type: "task-retrying"; taskId: string; error: string; attempt: number; retryIn: number }
  | { type: "task-complete"; taskId: string }
  | { type: "task-failed"; taskId: string; error: string; attempts: number }
  | { type: "task-canceled"; taskId: string }
  | { type: "action"; action: Action };

/** Everything an agent sends. `batch` only to clients that asked for it with `?batch=1`. */
export type ServerFrame = ChatFrame | AgentEvent | { type: "batch"; frames: (ChatFrame | AgentEvent)[] };

/** The events of `POST /run`, each with the agent it is from. */
export type JobEvent = { agent: string } & (
  | { type: "chunk"; text: string }
  | { type: "reasoning"; text: string }
  | { type: "tool_call"; call: MessageToolCall }
  | { type: "tool_result"; callId: string; name: string; output: string; failed?: boolean }
  | { type: "approval"; approvalId: string }
  | { type: "retrying"; error: string; retryIn: number }
  | { type: "done"; runId: string; status: "completed" | "canceled"; content: string }
  | { type: "error"; runId?: string; code: string; message: string; advice?: string }
);
