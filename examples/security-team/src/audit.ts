import { defineMiddleware, type MessageToolCall, type MiddlewareContext } from "@thinkery/sdk";
import { z } from "zod";

const configSchema = z.object({
  audit: z.strictObject({ keep: z.int().min(1).max(100) }).default({ keep: 20 }),
});

type Context = MiddlewareContext<z.output<typeof configSchema>>;

interface Entry {
  tool: string;
  input: unknown;
  outcome: "ok" | "failed";
}

/** Records the tool calls of an agent with their outcome, and shows the latest in its state. */
export const audit = defineMiddleware({
  name: "audit",
  configSchema,
  onToolStart(context) {
    context.state.started = Number(context.state.started ?? 0) + 1;
  },
  onToolResult: (context, call) => recordCall(context, call, "ok"),
  onToolError: (context, call) => recordCall(context, call, "failed"),
  state: ({ state }) => ({ audit: { started: state.started ?? 0, last: state.last ?? [] } }),
});

// Assigns a new list, because stored state must not be mutated in place.
function recordCall(context: Context, { name, input }: MessageToolCall, outcome: Entry["outcome"]): void {
  const previous = (context.state.last ?? []) as Entry[];
  context.state.last = [...previous, { tool: name, input, outcome }].slice(-context.config.audit.keep);
}
