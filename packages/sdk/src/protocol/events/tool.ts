import { z } from "zod";
import { toolResultSchema } from "../message.ts";

const toolErrorCodes = [
  "denied",
  "unknown_tool",
  "invalid_input",
  "threw",
  "timeout",
  "canceled",
  "too_large",
  "repeated",
  "outcome_unknown",
  // The code does not parse.
  "syntax",
  // It exceeded its memory, CPU time or disk space.
  "limit",
  // Its sandbox is gone, and with it the work in progress.
  "sandbox_lost",
  // No sandbox is available on this host.
  "no_sandbox",
] as const;

export type ToolErrorCode = (typeof toolErrorCodes)[number];

/** Events about tool calls, and about calls made by the code that they run. */
export const toolEvents = () => ({
  "tool.started": z.object({
    runId: z.string(),
    step: z.number(),
    callId: z.string(),
    toolName: z.string(),
    args: z.unknown(),
    idempotent: z.boolean(),
  }),
  "tool.output": z.object({
    runId: z.string(),
    callId: z.string(),
    toolName: z.string(),
    messageId: z.string(),
    output: z.string(),
    result: toolResultSchema,
    ms: z.number(),
    action: z.string(),
  }),
  "tool.error": z.object({
    runId: z.string(),
    callId: z.string(),
    toolName: z.string(),
    messageId: z.string(),
    error: z.string(),
    errorCode: z.enum(toolErrorCodes),
    ms: z.number(),
    action: z.string(),
  }),
  "tool.deferred": z
    .object({ runId: z.string(), callId: z.string(), toolName: z.string(), ms: z.number(), action: z.string() })
    .describe("A tool deferred its result, which is delivered later."),
  "capability.called": z
    .object({
      runId: z.string(),
      step: z.number(),
      parentCallId: z.string(),
      callId: z.string(),
      toolName: z.string(),
      args: z.unknown(),
    })
    .describe("Code that a tool call runs made a call. The result goes to the code, not to the model."),
  "capability.answered": z.object({
    runId: z.string(),
    parentCallId: z.string(),
    callId: z.string(),
    toolName: z.string(),
    ms: z.number(),
    action: z.string(),
    summary: z.string().optional(),
    error: z.string().optional(),
    errorCode: z.enum(toolErrorCodes).optional(),
  }),
});
