import { z } from "zod";
import { nextSchema } from "./page.ts";

export const messageStatuses = ["pending", "streaming", "complete", "error", "cancelled"] as const;

/** A reference to a value in the blob store. Read it with `GET /agency/:agency/agent/:agent/blobs/:hash`. */
export const blobReferenceSchema = z.object({ blob: z.string(), mediaType: z.string(), size: z.number() });

export type BlobReference = z.infer<typeof blobReferenceSchema>;

export const attachmentSchema = blobReferenceSchema.extend({ name: z.string().optional() });

export type Attachment = z.infer<typeof attachmentSchema>;

export const toolCallSchema = z.object({ id: z.string(), name: z.string(), input: z.unknown() });

export type MessageToolCall = z.infer<typeof toolCallSchema>;

/** The result of a tool call as shown to readers. A large result is stored as a blob in full. */
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
    reasoning: z.string().optional().meta({ description: "The first 3,000 characters." }),
    reasoningFullSize: z.number().optional(),
    error: z.string().optional(),
    timestamp: z.number().meta({ description: "Milliseconds since 1970." }),
    runId: z.string().meta({ description: "The turn that it belongs to." }),
    step: z.number().optional(),
    seq: z.number().optional().meta({ description: "Its position in the conversation; absent while it is queued." }),
    attempt: z.number(),
    retryParentId: z.string().optional(),
    model: z.string().optional(),
    tokensInput: z.number().optional(),
    tokensOutput: z.number().optional(),
    costUsd: z.number().optional(),
    taskId: z.string().optional(),
    checkpoint: z.number().optional().meta({ description: "The last event stored for it." }),
    heartbeatAt: z.number().optional(),
    facetName: z.string().optional(),
    parentMessageId: z.string().optional(),
    delegatedTaskIds: z.array(z.string()).optional(),
    notice: z
      .literal(true)
      .optional()
      .meta({ description: "It is from the host: its role is `user`, but nobody wrote it." }),
  })
  .meta({ id: "Message", description: "A message of an agent's conversation." });

export type Message = z.infer<typeof messageSchema>;

export const messageListSchema = z.object({ messages: z.array(messageSchema), next: nextSchema });

export const messageQuerySchema = z.strictObject({
  before: z.coerce.number().int().min(1).optional().meta({ description: "Returns messages before this `seq`." }),
  limit: z.coerce.number().int().min(1).max(500).default(50),
});

export type MessageQuery = z.infer<typeof messageQuerySchema>;
