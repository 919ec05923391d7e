import { z } from "zod";
import { agencyIdSchema, agentNameSchema } from "./name-schemas.ts";
import { parseAgentObjectName } from "./names.ts";

/** What ended a program that did not exit by itself; `disk`: it was about to fill the host's. */
const endedBySchema = z.enum(["timeout", "stop", "memory", "disk", "signal"]);

/** The kernel takes no argument that is much longer. */
export const longestCommand = 100_000;

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

/** What main asks the daemon to run for one of its agents. */
export const commandSchema = z.strictObject({
  /** `agency~agent`: it becomes a path, so both names are looked at again. */
  agent: z.string().refine((name) => {
    const { agency, agent } = parseAgentObjectName(name) ?? {};
    return agencyIdSchema.safeParse(agency).success && agentNameSchema.safeParse(agent).success;
  }, "expected agency~agent"),
  command: z
    .string()
    .min(1)
    .refine((text) => new TextEncoder().encode(text).length <= longestCommand, `longer than ${longestCommand} bytes; write it to a file and run that`)
    .refine((text) => !text.includes("\0"), "a command cannot have a NUL in it"),
  timeoutMs: z.number().int().min(1).optional(),
});

/** What the daemon tells of a command that is waited for, a line each: what it wrote, and in the end what came of it. */
export const commandNewsSchema = z.union([
  z.object({
    result: z.object({ exitCode: z.number().nullable(), endedBy: endedBySchema.optional(), output: z.string(), ms: z.number() }),
  }),
  z.object({ output: z.string() }),
]);

export type CommandNews = z.infer<typeof commandNewsSchema>;
