import { z } from "zod";
import { nextSchema } from "./page.ts";

export const messageStatuses = ["pending", "streaming", "complete", "error", "cancelled"] as const;

/** A value that lies in the blob store; `A/blobs/:hash` answers it. */
export const blobReferenceSchema = z.object({ blob: z.string(), mediaType: z.string(), size: z.number() });

export type BlobReference = z.infer<typeof blobReferenceSchema>;

export const attachmentSchema = blobReferenceSchema.extend({ name: z.string().optional() });

export type Attachment = z.infer<typeof attachmentSchema>;

export const toolCallSchema = z.object({ id: z.string(), name: z.string(), input: z.unknown() });

export type MessageToolCall = z.infer<typeof toolCallSchema>;

/** What a tool answered, as a reader sees it; the whole of a big one is in its blob. */
export const toolResultSchema = z.object({
  callId: z.string(),
  name: z.string(),
  summary: z.string(),
  preview: z.string(),
  size: z.number(),
  failed: z.boolean().optional(),
  blob: z.string().optional(),
  mediaType: z.string().optional(),
});

export type MessageToolResult = z.infer<typeof toolResultSchema>;

export const messageSchema = z
  .object({
    id: z.string(),
    role: z.enum(["user", "assistant", "tool"]),
    status: z.enum(messageStatuses),
    content: z.string(),
    attachments: z.array(attachmentSchema).optional(),
    toolCalls: z.array(toolCallSchema).optional(),
    toolResult: toolResultSchema.optional(),
    reasoning: z.string().optional().meta({ description: "the first 3,000 characters" }),
    reasoningFullSize: z.number().optional(),
    error: z.string().optional(),
    timestamp: z.number().meta({ description: "milliseconds since 1970" }),
    runId: z.string().meta({ description: "the turn it belongs to" }),
    step: z.number().optional(),
    seq: z.number().optional().meta({ description: "its place in the conversation; none while it is queued" }),
    attempt: z.number(),
    retryParentId: z.string().optional(),
    model: z.string().optional(),
    tokensInput: z.number().optional(),
    tokensOutput: z.number().optional(),
    costUsd: z.number().optional(),
    taskId: z.string().optional(),
    checkpoint: z.number().optional().meta({ description: "the last event stored for it" }),
    heartbeatAt: z.number().optional(),
    facetName: z.string().optional(),
    parentMessageId: z.string().optional(),
    delegatedTaskIds: z.array(z.string()).optional(),
  })
  .meta({ id: "Message", description: "One message of an agent's conversation." });

export type Message = z.infer<typeof messageSchema>;

export const messageListSchema = z.object({ messages: z.array(messageSchema), next: nextSchema });

export const messageQuerySchema = z.strictObject({
  before: z.coerce.number().int().min(1).optional().meta({ description: "a message's `seq`; older ones are answered" }),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});

export type MessageQuery = z.infer<typeof messageQuerySchema>;
