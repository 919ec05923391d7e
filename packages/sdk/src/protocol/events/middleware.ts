import { z } from "zod";

const hookSchema = () => z.object({ runId: z.string(), step: z.number(), middlewareName: z.string() });

/** Events about middleware. */
export const middlewareEvents = () => ({
  "middleware.before_model": hookSchema(),
  "middleware.after_model": hookSchema(),
  "middleware.failed": hookSchema()
    .extend({ hook: z.string(), error: z.string() })
    .describe("A hook failed or timed out. Its changes are rolled back, and the turn continues."),
  "middleware.state_changed": z
    .object({ middlewareName: z.string(), key: z.string(), value: z.unknown().optional() })
    .describe("A middleware set a key of its state, or deleted it if there is no value."),
});
