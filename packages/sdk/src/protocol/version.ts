import { z } from "zod";
import { branchNameSchema, versionNumberSchema } from "./file.ts";

/** Who changed something, and what they were doing. */
export const originSchema = z.object({
  kind: z.enum(["user", "agent"]),
  user: z.string().optional(),
  agent: z.string().optional(),
  turn: z.string().optional(),
  toolCall: z.string().optional(),
  tool: z.string().optional(),
  branch: z.string().optional().meta({ description: "where, if not on main" }),
});

export type Origin = z.infer<typeof originSchema>;

export const changeSchema = z.object({
  path: z.string(),
  kind: z.enum(["add", "edit", "delete", "move"]),
  from: z.string().optional().meta({ description: "where a moved file was" }),
});

export type Change = z.infer<typeof changeSchema>;

export const versionSchema = z
  .object({
    id: z.number(),
    at: z.string(),
    origin: originSchema,
    changes: z.array(changeSchema),
    more: z.number().optional().meta({ description: "how many changes are not listed here" }),
    reverts: z.array(z.number()).optional().meta({ description: "the versions whose changes this one takes back" }),
    merges: z.string().optional().meta({ description: "the branch that was merged here" }),
  })
  .meta({ id: "Version", description: "One transaction on a workspace." });

export type Version = z.infer<typeof versionSchema>;

/** Places where two have changed the same: both are kept. */
export const overlapSchema = z
  .object({
    path: z.string(),
    line: z.number().optional().meta({ description: "where the marked lines begin now" }),
    mine: z.string().optional().meta({ description: "what is there now, or its beginning" }),
    theirs: z.string().optional().meta({ description: "what should have come in its place, or its beginning" }),
    kept: z.string().optional().meta({ description: "where the other file is, when both could not be in one" }),
    reason: z.string(),
  })
  .meta({ id: "Overlap" });

export type Overlap = z.infer<typeof overlapSchema>;

export const versionListSchema = z.object({
  versions: z.array(versionSchema).meta({ description: "newest first" }),
  next: z.number().optional().meta({ description: "pass it as `before` for older ones" }),
  oldest: z.number().optional().meta({
    description:
      "the oldest version that is kept, where older ones were dropped by the retention that the host is set to",
  }),
});

export const versionQuerySchema = z.strictObject({
  branch: branchNameSchema.optional(),
  path: z
    .string()
    .max(2000)
    .optional()
    .meta({ description: "only those that changed this file, or something in this folder" }),
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
      diff: z.string().optional().meta({ description: "unified; of files that are not text there is none" }),
      added: z.number().optional(),
      removed: z.number().optional(),
      before: z.object({ size: z.number(), hash: z.string() }).optional(),
      after: z.object({ size: z.number(), hash: z.string() }).optional(),
    }),
  ),
  truncated: z
    .boolean()
    .optional()
    .meta({ description: "more was changed than is shown; ask with `path` for one file" }),
});

export type VersionDiff = z.infer<typeof versionDiffSchema>;

export const versionDiffQuerySchema = z.strictObject({ path: z.string().max(2000).optional() });

export const revertSchema = z
  .strictObject({
    version: z.int().min(1).optional(),
    turn: z.string().min(1).max(200).optional(),
    toolCall: z.string().min(1).max(200).optional(),
    branch: branchNameSchema.optional(),
    dryRun: z.boolean().optional().meta({ description: "only say what would come of it" }),
  })
  .refine((given) => [given.version, given.turn, given.toolCall].filter((one) => one !== undefined).length === 1, {
    error: "give one of version, turn, toolCall",
  })
  .meta({ id: "Revert" });

export type Revert = z.infer<typeof revertSchema>;

/** What came of a revert or a merge. */
export const mergeResponseSchema = z
  .object({
    version: versionSchema
      .optional()
      .meta({ description: "nothing where there was nothing to change, or for a dry run" }),
    changes: z.array(changeSchema),
    overlaps: z.array(overlapSchema),
  })
  .meta({ id: "Merged" });

export type MergeResponse = z.infer<typeof mergeResponseSchema>;

/** What came of edits that were sent together. */
export const commitResponseSchema = z.object({
  version: versionSchema.optional().meta({ description: "nothing where nothing is other than it was" }),
  overlaps: z.array(overlapSchema),
});

export const branchSchema = z
  .object({
    id: z.string(),
    from: z.string().meta({ description: "the branch that it was made from" }),
    at: z.number().meta({ description: "the version that it was made from" }),
    createdAt: z.string(),
    by: originSchema,
    mergedAt: z.string().optional(),
    changed: z.number().meta({ description: "how many versions it has that are not merged" }),
  })
  .meta({ id: "Branch" });

export type Branch = z.infer<typeof branchSchema>;

export const branchListSchema = z.object({ branches: z.array(branchSchema) });

export const newBranchSchema = z
  .strictObject({
    name: branchNameSchema.optional(),
    from: branchNameSchema.optional(),
    version: z.int().min(0).optional().meta({ description: "as of this version, in place of now" }),
    event: z.int().min(0).optional().meta({ description: "as of this event of the agent's log" }),
  })
  .refine(({ version, event }) => version === undefined || event === undefined, {
    error: "give a version or an event, not both",
  });

export type NewBranch = z.infer<typeof newBranchSchema>;

export const mergeSchema = z.strictObject({ into: branchNameSchema.optional(), dryRun: z.boolean().optional() });

export type Merge = z.infer<typeof mergeSchema>;
