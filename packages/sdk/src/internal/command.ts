import { z } from "zod";
import { isAgentAddress } from "../protocol/names.ts";
import { processSchema } from "../protocol/process.ts";

/** Maximum length of a command. The kernel does not accept much longer arguments. */
export const maxCommandBytes = 100_000;

/** A command that main asks the daemon to run for one of its agents. */
export const commandSchema = z.strictObject({
  /** `agency~agent` or `agency~agent/sub-agent`. It becomes a path, so its names are validated again. */
  agent: z.string().refine(isAgentAddress, "expected agency~agent"),
  command: z
    .string()
    .min(1)
    .refine(
      (text) => new TextEncoder().encode(text).length <= maxCommandBytes,
      `longer than ${maxCommandBytes} bytes; write it to a file and run the file`,
    )
    .refine((text) => !text.includes("\0"), "a command cannot contain a NUL character"),
  timeoutMs: z.number().int().min(1).optional(),
});

/** What the daemon streams about a foreground command, as lines of JSON: its output, and finally its result. */
export const commandUpdateSchema = z.union([
  z.object({
    result: z.object({
      exitCode: z.number().nullable(),
      endedBy: processSchema.shape.endedBy,
      output: z.string(),
      ms: z.number(),
    }),
  }),
  z.object({ output: z.string() }),
]);

export type CommandUpdate = z.infer<typeof commandUpdateSchema>;
