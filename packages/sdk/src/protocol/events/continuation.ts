import { z } from "zod";
import { continuationKinds } from "../choices.ts";
import { attachmentSchema } from "../message.ts";

/** Events about what a turn waits for, other than approvals. */
export const continuationEvents = () => ({
  "continuation.created": z
    .object({
      runId: z.string(),
      callId: z.string(),
      toolName: z.string(),
      continuationId: z.string(),
      kind: z.enum(continuationKinds).exclude(["approval"]),
      prompt: z.string().optional(),
      schema: z.record(z.string(), z.unknown()).optional(),
      hook: z.string().optional(),
      dueAt: z.string().optional().describe("When it is resolved without an answer."),
      state: z.unknown().optional().describe("What the tool wants back with the answer."),
    })
    .describe("A tool call waits, over restarts, until it is answered, a webhook arrives or its time has come."),
  "continuation.resolved": z
    .object({
      runId: z.string(),
      continuationId: z.string(),
      callId: z.string(),
      value: z.unknown().optional().describe("The answer; missing if its time has come."),
      by: z.string().optional().describe("Who answered."),
      attachment: attachmentSchema.optional().describe("The whole of what arrived, if it is too long for the value."),
    })
    .describe("What a tool call waited for has happened. The call goes on in its turn."),
});
