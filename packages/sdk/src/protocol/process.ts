import { z } from "zod";

/** What ended a program that did not exit by itself; `disk`: it was about to fill the host's. */
const endedBySchema = z.enum(["timeout", "stop", "memory", "disk", "signal"]);

/** A process that an agent started and that goes on by itself. */
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
  .meta({ id: "Process", description: "A program that an agent started in its Linux sandbox." });

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
    .meta({ description: "only what it wrote after so many bytes: the `outputBytes` of an earlier answer" }),
});
