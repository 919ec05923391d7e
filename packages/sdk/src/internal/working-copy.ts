import { z } from "zod";

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/);
const pathSchema = z.string().min(1).max(1100);
const versionSchema = z.int().min(0);

/**
 * What the daemon streams about the working copy in an agent's Linux sandbox: a summary first, then each change, then
 * the end.
 */
export const collectedEntrySchema = z.union([
  z.object({
    collection: z.string(),
    /** The version that the working copy is based on; 0 if unknown. */
    version: versionSchema,
    /** Some files of that version are still missing. */
    isBehind: z.boolean(),
    notes: z.array(z.string()),
    /** No files can be written there at the moment; the notes say why. */
    isStuck: z.boolean(),
  }),
  z.object({ write: pathSchema, base: versionSchema, size: z.number() }),
  z.object({ delete: pathSchema, base: versionSchema }),
  z.object({ end: z.literal(true) }),
]);

/** The state that the working copy should reach, and which of the collected changes were committed. */
export const workingCopyPlanSchema = z.strictObject({
  version: versionSchema,
  /** All files of that version. Omitted if it differs from the working copy only by the collected changes. */
  files: z.array(z.tuple([pathSchema, hashSchema])).optional(),
  /** The collection whose changes are in the workspace now. */
  committed: z.string(),
  /** Files of the collection whose changes are not. */
  except: z.array(pathSchema).optional(),
});

export type WorkingCopyPlan = z.infer<typeof workingCopyPlanSchema>;

export const neededFilesSchema = z.object({ needed: z.array(z.string()) });

export const workingCopyNotesSchema = z.object({ notes: z.array(z.string()) });
