import { z } from "zod";
import { slotSchema } from "../internal/host-status.ts";
import { defaultModelSchema } from "./models.ts";

/** Without a token only `status` is told. */
export const healthSchema = z
  .object({
    status: z.literal("ok"),
    version: z.string().optional(),
    pid: z.number().optional(),
    uptime: z.number().optional().meta({ description: "seconds" }),
    agencies: z.number().optional(),
    agents: z.number().optional(),
    sandboxes: z
      .array(
        slotSchema.extend({
          agent: z.string().optional().meta({ description: "whose code runs in it" }),
          runs: z.number().optional(),
        }),
      )
      .optional(),
    waitingRuns: z.number().optional().meta({ description: "runs of code that wait for a sandbox" }),
    restarts: z.number().optional().meta({ description: "how often main was restarted" }),
    worker: z.string().optional().meta({ description: "what main runs, where it is not the stock Worker" }),
    models: z
      .object({
        configured: z.array(z.string()).meta({ description: "providers that have a key or address, or were found" }),
        default: defaultModelSchema,
      })
      .optional(),
  })
  .meta({ id: "Health" });

export type Health = z.infer<typeof healthSchema>;
