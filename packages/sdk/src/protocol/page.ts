import { z } from "zod";

/** Lists answer `{<plural>: […], next?}`; `next` goes back in as `after`. */
export const pageQuerySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  after: z.string().max(200).optional(),
});

export type PageQuery = z.infer<typeof pageQuerySchema>;

export const nextSchema = z.string().optional().meta({ description: "pass it as `after` for the next page" });
