import { z } from "zod";
import { slotSchema } from "../internal/host-status.ts";
import { defaultModelSchema } from "./models.ts";

/** Without a token, the response contains only `status`. */
export const healthSchema = z
  .object({
    status: z.literal("ok"),
    version: z.string().optional(),
    pid: z.number().optional(),
    uptime: z.number().optional().meta({ description: "Uptime in seconds." }),
    agencies: z.number().optional(),
    agents: z.number().optional(),
    sandboxes: z
      .array(
        slotSchema.extend({
          agent: z.string().optional().meta({ description: "The agent whose code runs in it." }),
          runs: z.number().optional(),
        }),
      )
      .optional(),
    waitingRuns: z.number().optional().meta({ description: "Runs of code that wait for a sandbox." }),
    restarts: z.number().optional().meta({ description: "How often main was restarted." }),
    worker: z.string().optional().meta({ description: "The Worker that main runs, if it is not the stock one." }),
    models: z
      .object({
        configured: z
          .array(z.string())
          .meta({ description: "Providers that have a key or an address, or were discovered." }),
        default: defaultModelSchema,
      })
      .optional(),
  })
  .meta({ id: "Health" });

export type Health = z.infer<typeof healthSchema>;
