import { z } from "zod";
import { changeSchema, originSchema } from "../version.ts";

/** Events about versions of the workspace. */
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
    .describe("A new version of the workspace: who changed what, without the contents."),
  "files.pruned": z
    .object({
      upTo: z.number(),
      versions: z.number(),
      branch: z.string().optional(),
      by: originSchema.optional(),
    })
    .describe("Versions were deleted: those past the host's retention, or those of a deleted branch."),
});
