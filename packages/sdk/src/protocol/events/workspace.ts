import { z } from "zod";
import { changeSchema, originSchema } from "../version.ts";

/** Versions of the workspace. */
export const workspaceEvents = () => ({
  "files.changed": z
    .object({
      version: z.number(),
      origin: originSchema,
      changes: z.array(changeSchema),
      more: z.number().optional(),
      reverts: z.array(z.number()).optional(),
      merges: z.string().optional(),
    })
    .describe("A version of the workspace: who changed what. The contents are in the workspace, not here."),
  "files.pruned": z
    .object({
      upTo: z.number(),
      versions: z.number(),
      branch: z.string().optional(),
      by: originSchema.optional(),
    })
    .describe("Versions that outlived the host's retention, or those of a branch that was removed."),
});
