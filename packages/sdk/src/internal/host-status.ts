import { z } from "zod";

export const slotSchema = z.object({
  name: z.string(),
  /** `unused`: its process is started when it is first needed. */
  state: z.enum(["starting", "ready", "restarting", "failed", "unused"]),
  pid: z.number().optional(),
  restarts: z.number(),
  generation: z.number().optional().meta({ description: "Number of processes that this slot has had." }),
  memoryBytes: z.number().optional(),
  isolation: z.array(z.string()).optional().meta({
    description: "How the process is isolated in addition to workerd's own limits: prlimit, bubblewrap, setpriv.",
  }),
});

/** Why the process of a slot ended. `silence`: it was unresponsive. */
export const slotEndCauses = ["asked", "silence", "memory", "cpu", "crash"] as const;

/** The daemon's reply once a slot has a process that is ready to run code. */
export const slotRenewalSchema = z.object({
  generation: z.number(),
  /** Why the process that the caller knew ended. */
  ended: z.enum(slotEndCauses).optional(),
});

export type SlotRenewal = z.infer<typeof slotRenewalSchema>;

/** The status that the daemon reports to the Worker. */
export const hostStatusSchema = z.object({
  pid: z.number(),
  startedAt: z.string(),
  main: z.object({ restarts: z.number(), pid: z.number().optional(), worker: z.string().optional() }),
  slots: z.array(slotSchema),
});

export type HostStatus = z.infer<typeof hostStatusSchema>;
