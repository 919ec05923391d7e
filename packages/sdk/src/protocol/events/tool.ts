import { z } from "zod";
import { toolResultSchema } from "../message.ts";

const toolTroubles = [
  "denied",
  "unknown_tool",
  "invalid_input",
  "threw",
  "timeout",
  "canceled",
  "too_large",
  "repeated",
  "outcome_unknown",
  // Code that does not parse.
  "syntax",
  // It used more memory, CPU time or space than it may.
  "limit",
  // Its sandbox is gone, and what it was doing with it.
  "sandbox_lost",
  // There is nothing here to run it in.
  "no_sandbox",
] as const;

export type ToolTrouble = (typeof toolTroubles)[number];

/** Calls of tools, and calls made by the code that they run. */
export const toolEvents = () => ({
  "tool.started": z.object({
    runId: z.string(),
    step: z.number(),
    callId: z.string(),
    toolName: z.string(),
    args: z.unknown(),
    repeatable: z.boolean(),
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
    trouble: z.enum(toolTroubles),
    ms: z.number(),
    action: z.string(),
  }),
  "tool.deferred": z
    .object({ runId: z.string(), callId: z.string(), toolName: z.string(), ms: z.number(), action: z.string() })
    .describe("A tool has begun something whose result is reported later."),
  "capability.called": z
    .object({
      runId: z.string(),
      step: z.number(),
      within: z.string(),
      callId: z.string(),
      toolName: z.string(),
      args: z.unknown(),
    })
    .describe("Code that a tool call runs calls something itself. The result goes to the code, not to the model."),
  "capability.answered": z.object({
    runId: z.string(),
    within: z.string(),
    callId: z.string(),
    toolName: z.string(),
    ms: z.number(),
    action: z.string(),
    summary: z.string().optional(),
    error: z.string().optional(),
    trouble: z.enum(toolTroubles).optional(),
  }),
});
