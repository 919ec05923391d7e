import { defineMiddleware, type MessageToolCall, type MiddlewareContext } from "@thinkery/sdk";
import { z } from "zod";

const config = z.object({
  audit: z.strictObject({ keep: z.int().min(1).max(100) }).default({ keep: 20 }),
});

type Context = MiddlewareContext<z.output<typeof config>>;

interface Entry {
  tool: string;
  input: unknown;
  outcome: "ok" | "failed";
}

/** Remembers which tools an agent used and what came of it, and shows the last of them in its state. */
export const audit = defineMiddleware({
  name: "audit",
  config,
  onToolStart(context) {
    context.state.started = Number(context.state.started ?? 0) + 1;
  },
  onToolResult: (context, call) => note(context, call, "ok"),
  onToolError: (context, call) => note(context, call, "failed"),
  state: ({ state }) => ({ audit: { started: state.started ?? 0, last: state.last ?? [] } }),
});

// A new list each time: what is stored is assigned, never changed in place.
function note(context: Context, { name, input }: MessageToolCall, outcome: Entry["outcome"]): void {
  const before = (context.state.last ?? []) as Entry[];
  context.state.last = [...before, { tool: name, input, outcome }].slice(-context.config.audit.keep);
}
