import { z } from "zod";

export const usageSchema = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cachedInputTokens: z.number().optional(),
  reasoningTokens: z.number().optional(),
  costUsd: z.number().nullable().meta({ description: "Null if a price is unknown." }),
});

export type UsageTotal = z.infer<typeof usageSchema>;
