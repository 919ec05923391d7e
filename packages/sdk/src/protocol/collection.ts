import { z } from "zod";

const totalsSchema = z.object({ blobs: z.number(), bytes: z.number() }).meta({ id: "BlobTotals" });

export type BlobTotals = z.infer<typeof totalsSchema>;

export const newCollectionSchema = z
  .strictObject({
    dryRun: z.boolean().optional().meta({ description: "Only report what would be deleted." }),
    id: z
      .string()
      .max(100)
      .optional()
      .meta({ description: "The collection to wait for, from an earlier response. Without it, a new one is started." }),
  })
  .meta({ id: "NewCollection" });

export const blobReportSchema = z
  .object({
    needed: totalsSchema.meta({ description: "Blobs that an agent or agency refers to." }),
    freed: totalsSchema.meta({ description: "Blobs that nobody refers to. A dry run only counts them." }),
    recent: totalsSchema.meta({
      description: "Blobs that are not needed any more, or not yet. A later collection decides about them.",
    }),
    unknown: totalsSchema.meta({
      description: "Blobs that were kept because not all agents and agencies could be asked whether they need them.",
    }),
    partials: z.number().meta({ description: "Files that interrupted writes left behind, and that were deleted." }),
    missing: z.number().meta({ description: "Blobs that somebody refers to but that are not stored." }),
  })
  .meta({ id: "BlobReport" });

export type BlobReport = z.infer<typeof blobReportSchema>;

export const collectionSchema = z
  .object({
    id: z.string(),
    dryRun: z.boolean(),
    state: z.enum(["running", "done", "failed"]).meta({ description: "While running, send the request again." }),
    agents: z.number().meta({ description: "Agents asked so far." }),
    progress: z.number().meta({ description: "Part of the blobs examined so far, from 0 to 1." }),
    report: blobReportSchema,
    unreadable: z.array(z.string()).meta({ description: "Agents and agencies that could not be read, at most 20." }),
    unknownAgents: z.number().meta({ description: "Agents and agencies with data that belong to no known user." }),
    error: z.string().optional(),
  })
  .meta({ id: "Collection", description: "A collection of unused blobs." });

export type Collection = z.infer<typeof collectionSchema>;

/** What an agent occupies on the host's disk. */
export const diskUsageSchema = z
  .object({
    totalBytes: z.number().meta({ description: "Database and blobs together." }),
    databaseBytes: z.number().meta({ description: "Conversation, text files and history." }),
    files: z.object({ files: z.number(), bytes: z.number() }).meta({ description: "The files of main." }),
    branches: z
      .object({ branches: z.number(), files: z.number(), bytes: z.number() })
      .meta({ description: "The files that branches added or changed." }),
    blobs: totalsSchema.meta({ description: "Large files, attachments and outputs, with their old versions." }),
  })
  .meta({ id: "DiskUsage" });

export type DiskUsage = z.infer<typeof diskUsageSchema>;
