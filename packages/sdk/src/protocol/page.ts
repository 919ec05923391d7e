import { z } from "zod";

/** Lists respond with `{ <plural>: […], next? }`. Pass `next` as `after` for the next page. */
export const pageQuerySchema = z.strictObject({
  limit: z.coerce.number().int().min(1).max(500).default(100),
  after: z.string().max(200).optional(),
});

export type PageQuery = z.infer<typeof pageQuerySchema>;

export const nextSchema = z.string().optional().meta({ description: "Pass it as `after` for the next page." });
