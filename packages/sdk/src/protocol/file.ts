import { z } from "zod";
import { pageQuerySchema } from "./page.ts";

const branchRule = "expected at most 64 letters and digits, with . _ - only between them";

export const branchNameSchema = z
  .string(branchRule)
  .max(64, branchRule)
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/, branchRule);

/** A path in a request. `parseFilePath` validates it further. */
export const pathTextSchema = z.string().min(1).max(8192);

export const versionNumberSchema = z.coerce.number().int().min(1);

/** A file of a workspace, without its content. */
export const fileSchema = z
  .object({
    path: z.string(),
    kind: z
      .enum(["text", "binary"])
      .meta({ description: "Concurrent edits of text are merged; anything else is stored as a whole." }),
    size: z.number().meta({ description: "Size in bytes." }),
    mediaType: z.string(),
    hash: z.string().meta({ description: "Hash of the content; also the ETag of the file." }),
    version: z.number().meta({ description: "The version in which it last changed." }),
    modifiedAt: z.string(),
  })
  .meta({ id: "File", description: "A file of an agent's workspace." });

export type FileInfo = z.infer<typeof fileSchema>;

export const fileListSchema = z.object({
  files: z.array(fileSchema),
  version: z.number().meta({ description: "The latest version on this branch; 0 if nothing was ever written." }),
  next: z.string().optional().meta({ description: "Pass it as `after` for the next page." }),
});

const atSchema = z.strictObject({
  branch: branchNameSchema.optional(),
  version: versionNumberSchema.optional().meta({ description: "Read the files as of this version." }),
});

export const fileQuerySchema = atSchema.extend({
  download: z.literal("1").optional().meta({ description: "Respond with a download." }),
});

export const fileWriteQuerySchema = atSchema.pick({ branch: true });

export const fileDeleteQuerySchema = fileWriteQuerySchema.extend({
  recursive: z.literal("1").optional().meta({ description: "Delete a folder and everything in it." }),
});

const underSchema = z.string().max(2000).optional().meta({ description: "Only files in this folder." });

export const archiveQuerySchema = atSchema.extend({ under: underSchema });

export type ArchiveQuery = z.infer<typeof archiveQuerySchema>;

export const archiveWriteQuerySchema = fileWriteQuerySchema.extend({
  replace: z.literal("1").optional().meta({ description: "Delete the files that are not in the zip." }),
});

export const fileListQuerySchema = pageQuerySchema.extend({
  ...atSchema.shape,
  after: z.string().max(2000).optional(),
  under: underSchema,
});

export type FileListQuery = z.infer<typeof fileListQuerySchema>;

/** One of several changes that are made as one version. */
export const fileEditSchema = z.union([
  z.strictObject({ write: pathTextSchema, content: z.string() }),
  z.strictObject({ write: pathTextSchema, base64: z.base64() }),
  z.strictObject({ delete: pathTextSchema }).meta({ description: "A file, or a folder and everything in it." }),
  z.strictObject({ move: pathTextSchema, to: pathTextSchema }),
]);

export const fileEditsSchema = z.strictObject({
  edits: z.array(fileEditSchema).min(1).max(1000),
  /** The version that the edits are based on. Files that changed since are merged. */
  base: z.int().min(0).optional(),
});

export type FileEdits = z.infer<typeof fileEditsSchema>;
