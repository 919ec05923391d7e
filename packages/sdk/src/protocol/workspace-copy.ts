import { z } from "zod";

const hashSchema = z.string().regex(/^[0-9a-f]{64}$/);
const pathSchema = z.string().min(1).max(1100);
const versionSchema = z.int().min(0);

/** What the daemon says of the copy in an agent's Linux sandbox: first of all of it, then each change, then that this was all. */
export const collectedSchema = z.union([
  z.object({
    collection: z.string(),
    /** The version that the copy is of; 0 where nobody knows. */
    version: versionSchema,
    /** Not all of that version is there yet. */
    isBehind: z.boolean(),
    notes: z.array(z.string()),
    /** Nothing can be brought there now; the notes say why. */
    isStuck: z.boolean(),
  }),
  z.object({ write: pathSchema, base: versionSchema, size: z.number() }),
  z.object({ delete: pathSchema, base: versionSchema }),
  z.object({ end: z.literal(true) }),
]);

/** What the copy should be, and what became of the changes that were collected. */
export const copyPlanSchema = z.strictObject({
  version: versionSchema,
  /** All files of that version. Left out where it has nothing new beside what was collected. */
  files: z.array(z.tuple([pathSchema, hashSchema])).optional(),
  /** The collection whose changes are in the workspace now. */
  landed: z.string(),
  /** Those of its files that are not. */
  except: z.array(pathSchema).optional(),
});

export type CopyPlan = z.infer<typeof copyPlanSchema>;

export const copyNeedsSchema = z.object({ needed: z.array(z.string()) });

export const putSchema = z.object({ path: pathSchema, size: z.int().min(0) });

export const copyNotesSchema = z.object({ notes: z.array(z.string()) });
