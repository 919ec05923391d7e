import { z } from "zod";

const endedBySchema = z.enum(["timeout", "stop", "memory_limit", "process_limit", "memory", "disk", "signal"]).meta({
  description:
    "Why a process ended that did not exit by itself. `memory_limit`, `process_limit`: with everything it started it exceeded a limit of a command. `memory`: the machine ran out of memory. `disk`: it was about to fill the host's disk.",
});

/** A background process of an agent. */
export const processSchema = z
  .object({
    id: z.string(),
    command: z.string(),
    state: z.enum(["running", "exited"]),
    exitCode: z.number().nullable().optional(),
    endedBy: endedBySchema.optional(),
    startedAt: z.string(),
    endedAt: z.string().optional(),
    outputBytes: z.number(),
  })
  .meta({ id: "Process", description: "A background process in an agent's Linux sandbox." });

export type ProcessInfo = z.infer<typeof processSchema>;

export const processListSchema = z.object({ processes: z.array(processSchema) });

export const processOutputSchema = processSchema.extend({ output: z.string() });

export type ProcessOutput = z.infer<typeof processOutputSchema>;

export const processQuerySchema = z.strictObject({
  after: z.coerce
    .number()
    .int()
    .min(0)
    .optional()
    .meta({ description: "Only the output after this many bytes: the `outputBytes` of an earlier response." }),
});
