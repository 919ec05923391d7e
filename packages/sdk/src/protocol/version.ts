import { z } from "zod";
import { branchNameSchema, versionNumberSchema } from "./file.ts";

/** Who made a change, in which turn and by which tool call. */
export const originSchema = z.object({
  kind: z.enum(["user", "agent"]),
  user: z.string().optional(),
  agent: z.string().optional(),
  turn: z.string().optional(),
  toolCall: z.string().optional(),
  tool: z.string().optional(),
  branch: z.string().optional().meta({ description: "The branch, if not main." }),
});

export type Origin = z.infer<typeof originSchema>;

export const changeSchema = z.object({
  path: z.string(),
  kind: z.enum(["add", "edit", "delete", "move"]),
  from: z.string().optional().meta({ description: "The old path of a moved file." }),
});

export type Change = z.infer<typeof changeSchema>;

export const versionSchema = z
  .object({
    id: z.number(),
    at: z.string(),
    origin: originSchema,
    changes: z.array(changeSchema),
    more: z.number().optional().meta({ description: "Number of changes that are not listed." }),
    reverts: z.array(z.number()).optional().meta({ description: "The versions that this one reverts." }),
    merges: z.string().optional().meta({ description: "The branch that was merged." }),
  })
  .meta({ id: "Version", description: "A version of a workspace: one transaction." });

export type Version = z.infer<typeof versionSchema>;

/** A conflict: two sides changed the same place. Both changes are kept. */
export const overlapSchema = z
  .object({
    path: z.string(),
    line: z.number().optional().meta({ description: "The line where the conflict markers start." }),
    mine: z.string().optional().meta({ description: "The current text, or its beginning." }),
    theirs: z.string().optional().meta({ description: "The text that should have replaced it, or its beginning." }),
    conflictCopy: z
      .string()
      .optional()
      .meta({ description: "The path of the other file, if the two could not be combined in one." }),
    reason: z.string(),
  })
  .meta({ id: "Overlap" });

export type Overlap = z.infer<typeof overlapSchema>;

export const versionListSchema = z.object({
  versions: z.array(versionSchema).meta({ description: "Newest first." }),
  next: z.number().optional().meta({ description: "Pass it as `before` for older versions." }),
  oldest: z.number().optional().meta({
    description: "The oldest version, if older ones were deleted by the host's retention policy.",
  }),
});

export const versionQuerySchema = z.strictObject({
  branch: branchNameSchema.optional(),
  path: z
    .string()
    .max(2000)
    .optional()
    .meta({ description: "Only versions that changed this file, or a file in this folder." }),
  turn: z.string().max(200).optional(),
  toolCall: z.string().max(200).optional(),
  before: versionNumberSchema.optional(),
  limit: z.coerce.number().int().min(1).max(200).default(50),
});

export type VersionQuery = z.infer<typeof versionQuerySchema>;

export const versionDiffSchema = versionSchema.extend({
  diffs: z.array(
    z.object({
      path: z.string(),
      kind: z.enum(["add", "edit", "delete", "move"]),
      from: z.string().optional(),
      diff: z.string().optional().meta({ description: "A unified diff; absent for binary files." }),
      added: z.number().optional(),
      removed: z.number().optional(),
      before: z.object({ size: z.number(), hash: z.string() }).optional(),
      after: z.object({ size: z.number(), hash: z.string() }).optional(),
    }),
  ),
  truncated: z.boolean().optional().meta({ description: "Not all diffs are included; use `path` to get one file." }),
});

export type VersionDiff = z.infer<typeof versionDiffSchema>;

export const versionDiffQuerySchema = z.strictObject({ path: z.string().max(2000).optional() });

export const revertSchema = z
  .strictObject({
    version: z.int().min(1).optional(),
    turn: z.string().min(1).max(200).optional(),
    toolCall: z.string().min(1).max(200).optional(),
    branch: branchNameSchema.optional(),
    dryRun: z.boolean().optional().meta({ description: "Only return what would change." }),
  })
  .refine(({ version, turn, toolCall }) => [version, turn, toolCall].filter((id) => id !== undefined).length === 1, {
    error: "give exactly one of version, turn and toolCall",
  })
  .meta({ id: "Revert" });

export type Revert = z.infer<typeof revertSchema>;

/** The result of a revert or a merge. */
export const mergeResponseSchema = z
  .object({
    version: versionSchema.optional().meta({ description: "Absent for a dry run, or if there was nothing to change." }),
    changes: z.array(changeSchema),
    overlaps: z.array(overlapSchema),
  })
  .meta({ id: "Merged" });

export type MergeResponse = z.infer<typeof mergeResponseSchema>;

/** The result of edits that were committed together. */
export const commitResponseSchema = z.object({
  version: versionSchema.optional().meta({ description: "Absent if nothing changed." }),
  overlaps: z.array(overlapSchema),
});

export const branchSchema = z
  .object({
    id: z.string(),
    from: z.string().meta({ description: "The branch that it was created from." }),
    at: z.number().meta({ description: "The version that it was created from." }),
    createdAt: z.string(),
    by: originSchema,
    mergedAt: z.string().optional(),
    changed: z.number().meta({ description: "Number of unmerged versions." }),
  })
  .meta({ id: "Branch" });

export type Branch = z.infer<typeof branchSchema>;

export const branchListSchema = z.object({ branches: z.array(branchSchema) });

export const newBranchSchema = z
  .strictObject({
    name: branchNameSchema.optional(),
    from: branchNameSchema.optional(),
    version: z.int().min(0).optional().meta({ description: "Branch from this version instead of the latest one." }),
    event: z
      .int()
      .min(0)
      .optional()
      .meta({ description: "Branch from the files as of this event of the agent's log." }),
  })
  .refine(({ version, event }) => version === undefined || event === undefined, {
    error: "give a version or an event, not both",
  });

export type NewBranch = z.infer<typeof newBranchSchema>;

export const mergeSchema = z.strictObject({ into: branchNameSchema.optional(), dryRun: z.boolean().optional() });

export type Merge = z.infer<typeof mergeSchema>;
