import { z } from "zod";
import { defaultModelSchema } from "./models.ts";

const slotSchema = z.object({
  name: z.string(),
  state: z.enum(["starting", "ready", "restarting", "failed"]),
  pid: z.number().optional(),
  restarts: z.number(),
  generation: z.number().optional().meta({ description: "how many processes this slot has had" }),
  memoryBytes: z.number().optional(),
  walls: z.array(z.string()).optional().meta({ description: "what is around the process beside workerd's own bounds: prlimit, bubblewrap" }),
});

/** How the process of a slot ended, where it was not asked to. */
export const slotEndCauses = ["asked", "silence", "memory", "cpu", "crash"] as const;

/** What the daemon answers when a slot has a process that is ready for code. */
export const slotRenewalSchema = z.object({
  generation: z.number(),
  /** Of the process that the asker knew. */
  ended: z.enum(slotEndCauses).optional(),
});

export type SlotRenewal = z.infer<typeof slotRenewalSchema>;

/** What the daemon tells the Worker about the processes around it. */
export const hostStatusSchema = z.object({
  pid: z.number(),
  startedAt: z.string(),
  main: z.object({ restarts: z.number(), pid: z.number().optional(), worker: z.string().optional() }),
  slots: z.array(slotSchema),
});

export type HostStatus = z.infer<typeof hostStatusSchema>;

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
      .array(slotSchema.extend({ agent: z.string().optional().meta({ description: "whose code runs in it" }), runs: z.number().optional() }))
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
