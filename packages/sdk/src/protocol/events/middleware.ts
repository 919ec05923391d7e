import { z } from "zod";

const hookSchema = () => z.object({ runId: z.string(), step: z.number(), middlewareName: z.string() });

/** What middleware does. */
export const middlewareEvents = () => ({
  "middleware.before_model": hookSchema(),
  "middleware.after_model": hookSchema(),
  "middleware.failed": hookSchema()
    .extend({ hook: z.string(), error: z.string() })
    .describe("A hook failed or took too long. What it had changed is undone, and the turn goes on."),
  "middleware.state_changed": z
    .object({ middlewareName: z.string(), key: z.string(), value: z.unknown().optional() })
    .describe("One value that a middleware keeps in its agent. Without a value, it dropped the key."),
});
