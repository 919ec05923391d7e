import { z } from "zod";
import { pageQuerySchema } from "./page.ts";

const branchRule = "expected letters, digits, and . _ - between them, 64 at most";

export const branchNameSchema = z
  .string(branchRule)
  .max(64, branchRule)
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/, branchRule);

/** A path as a request has it. What it may be is said in one place, see `filePath`. */
export const pathTextSchema = z.string().min(1).max(8192);

export const versionNumberSchema = z.coerce.number().int().min(1);

/** A file of a workspace, without what is in it. */
export const fileSchema = z
  .object({
    path: z.string(),
    kind: z
      .enum(["text", "binary"])
      .meta({ description: "text is merged when two edit it at once; anything else is kept whole" }),
    size: z.number().meta({ description: "in bytes" }),
    mediaType: z.string(),
    hash: z.string().meta({ description: "of its content; the ETag of its address" }),
    version: z.number().meta({ description: "the version that it last changed in" }),
    modifiedAt: z.string(),
  })
  .meta({ id: "File", description: "A file of an agent's workspace." });

export type FileInfo = z.infer<typeof fileSchema>;

export const fileListSchema = z.object({
  files: z.array(fileSchema),
  version: z
    .number()
    .meta({ description: "the workspace's latest version on this branch; 0 while nothing was ever written" }),
  next: z.string().optional().meta({ description: "pass it as `after` for the next page" }),
});

const atSchema = z.strictObject({
  branch: branchNameSchema.optional(),
  version: versionNumberSchema.optional().meta({ description: "as of this version, in place of now" }),
});

export const fileQuerySchema = atSchema.extend({
  download: z.literal("1").optional().meta({ description: "answer as a download" }),
});

export const fileWriteQuerySchema = atSchema.pick({ branch: true });

export const fileDeleteQuerySchema = fileWriteQuerySchema.extend({
  recursive: z.literal("1").optional().meta({ description: "a folder with all that is in it" }),
});

const underSchema = z.string().max(2000).optional().meta({ description: "only what is in this folder" });

export const archiveQuerySchema = atSchema.extend({ under: underSchema });

export type ArchiveQuery = z.infer<typeof archiveQuerySchema>;

export const archiveWriteQuerySchema = fileWriteQuerySchema.extend({
  replace: z.literal("1").optional().meta({ description: "delete the files that are not in it" }),
});

export const fileListQuerySchema = pageQuerySchema.extend({
  ...atSchema.shape,
  after: z.string().max(2000).optional(),
  under: underSchema,
});

export type FileListQuery = z.infer<typeof fileListQuerySchema>;

/** Several changes that make one version together. */
export const fileEditSchema = z.union([
  z.strictObject({ write: pathTextSchema, content: z.string() }),
  z.strictObject({ write: pathTextSchema, base64: z.base64() }),
  z.strictObject({ delete: pathTextSchema }).meta({ description: "a file, or a folder with all that is in it" }),
  z.strictObject({ move: pathTextSchema, to: pathTextSchema }),
]);

export const fileEditsSchema = z.strictObject({
  edits: z.array(fileEditSchema).min(1).max(1000),
  /** What the sender had before them when they made these; where a file has changed since, both are merged. */
  base: z.int().min(0).optional(),
});

export type FileEdits = z.infer<typeof fileEditsSchema>;
