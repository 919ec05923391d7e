import { z } from "zod";

const maxUsd = 1_000_000;
const usdRule = `expected US dollars per million tokens, from 0 to ${maxUsd}`;
const usd = z.number(usdRule).min(0, usdRule).max(maxUsd, usdRule);

export const priceSchema = z
  .strictObject({ input: usd, output: usd, cachedInput: usd.optional() })
  .meta({ id: "Price", description: "US dollars per million tokens." });

export type Price = z.infer<typeof priceSchema>;

export const providerStatuses = ["ready", "no key", "not found", "error"] as const;

export const modelInfoSchema = z
  .object({
    id: z.string().meta({ description: "As `provider:model`." }),
    price: priceSchema.optional().meta({ description: "Absent if unknown." }),
    contextTokens: z
      .number()
      .optional()
      .meta({ description: "Size of the context window in tokens; absent if unknown." }),
  })
  .meta({ id: "ModelInfo" });

export type ModelInfo = z.infer<typeof modelInfoSchema>;

export const providerInfoSchema = z
  .object({
    name: z.string(),
    status: z.enum(providerStatuses),
    problem: z.string().optional().meta({ description: "Why it is not ready, and what to do." }),
    apiKeyVariable: z.string().optional(),
    address: z.string().optional(),
    models: z.array(modelInfoSchema),
  })
  .meta({ id: "ProviderInfo", description: "A model provider and its status." });

export type ProviderInfo = z.infer<typeof providerInfoSchema>;

export const defaultModelSchema = z
  .object({ id: z.string(), why: z.string() })
  .meta({ id: "DefaultModel", description: "The model of agents that do not specify one, and why it was chosen." });

export type DefaultModel = z.infer<typeof defaultModelSchema>;

export const providerListSchema = z.object({ providers: z.array(providerInfoSchema), default: defaultModelSchema });

export const modelListSchema = z.object({ models: z.array(modelInfoSchema), default: defaultModelSchema });

export const modelQuerySchema = z.strictObject({ provider: z.string().min(1).max(100).optional() });
