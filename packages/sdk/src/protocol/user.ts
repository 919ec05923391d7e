import { z } from "zod";
import { budgetSchema } from "./budget.ts";

const longest = 16 * 1024;
const mostKeys = 200;
const longestKey = 100;

/** Whatever clients want to find again. Keys are theirs; only the size is ours. */
export const preferencesSchema = z
  .record(z.string(), z.json(), "expected an object, { … }")
  .refine((all) => Object.keys(all).every((key) => key !== "" && key.length <= longestKey), { error: `keys have 1 to ${longestKey} characters` })
  .refine((all) => Object.keys(all).length <= mostKeys, { error: `more than ${mostKeys} keys` })
  .refine((all) => new TextEncoder().encode(JSON.stringify(all)).length <= longest, { error: `larger than ${longest} bytes` })
  .meta({ id: "Preferences", description: "A small JSON object of the user's own." });

export type Preferences = z.infer<typeof preferencesSchema>;

export const userSchema = z
  .object({
    name: z.string(),
    agencies: z.number(),
    agents: z.number(),
    preferences: preferencesSchema,
    budget: budgetSchema.nullable(),
  })
  .meta({ id: "User" });

export type User = z.infer<typeof userSchema>;
