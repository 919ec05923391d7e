import { z } from "zod";
import { nextSchema } from "./page.ts";

export const resourceSchema = z
  .object({
    id: z.string().meta({ description: "The SHA-256 of the content." }),
    type: z.string(),
    size: z.number().meta({ description: "Bytes." }),
    preview: z.string().optional().meta({ description: "The beginning of a text." }),
    createdBy: z.string(),
    createdAt: z.string(),
  })
  .meta({ id: "Resource", description: "A large content that never changes, by its hash." });

export type Resource = z.infer<typeof resourceSchema>;

export const resourceListSchema = z.object({ resources: z.array(resourceSchema), next: nextSchema });

export const newResourceSchema = z
  .strictObject({
    content: z.string().min(1),
    type: z
      .string()
      .regex(/^[\w.+-]+\/[\w.+-]+$/, "expected a media type, such as text/markdown")
      .max(100)
      .optional(),
    encoding: z.enum(["text", "base64"]).default("text"),
  })
  .meta({ id: "NewResource" });

export type NewResource = z.infer<typeof newResourceSchema>;
