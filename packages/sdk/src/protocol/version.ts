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

/** A command that was run on the result of a merge before the merge was made. */
export const checkResultSchema = z
  .object({
    command: z.string(),
    exitCode: z.number().nullable(),
    endedBy: z.string().optional().meta({ description: "Why it ended, if it did not exit by itself." }),
    output: z.string().meta({ description: "The end of its output." }),
  })
  .meta({ id: "CheckResult" });

export type CheckResult = z.infer<typeof checkResultSchema>;

/** The result of a revert or a merge. */
export const mergeResponseSchema = z
  .object({
    version: versionSchema.optional().meta({ description: "Absent for a dry run, or if there was nothing to change." }),
    changes: z.array(changeSchema),
    overlaps: z.array(overlapSchema),
    check: checkResultSchema.optional().meta({ description: "The check that the merge passed." }),
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

export const checkCommandSchema = z
  .string()
  .min(1)
  .max(10_000)
  .refine((text) => !text.includes("\0"), "a command cannot contain a NUL character");

export const mergeSchema = z.strictObject({
  into: branchNameSchema.optional(),
  dryRun: z.boolean().optional(),
  check: checkCommandSchema.optional().meta({
    description:
      "A command that is run on the merged files first. Nothing is merged unless it succeeds, and its own changes are dropped.",
  }),
});

export type Merge = z.infer<typeof mergeSchema>;

/** What became of the branch that a sub-agent worked on. */
export const forkMergeSchema = z
  .object({
    branch: z.string(),
    into: z.string().meta({ description: "The branch of the agent that delegated." }),
    isMerged: z.boolean().meta({ description: "If not, the branch still exists." }),
    version: z.number().optional().meta({ description: "The version that the merge made; absent if nothing changed." }),
    changes: z.array(changeSchema),
    more: z.number().optional().meta({ description: "Number of changes that are not listed." }),
    overlaps: z.array(overlapSchema.omit({ mine: true, theirs: true })),
    moreOverlaps: z.number().optional(),
    check: checkResultSchema.optional(),
    reason: z.string().optional().meta({ description: "Why it was not merged." }),
  })
  .meta({ id: "ForkMerge" });

export type ForkMerge = z.infer<typeof forkMergeSchema>;
