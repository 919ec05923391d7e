import { z } from "zod";
import { budgetSchema } from "./budget.ts";

const maxPreferencesChars = 16 * 1024;
const maxKeys = 200;
const maxKeyChars = 100;

/** Settings that clients store for a user. Clients choose the keys; the host only limits the size. */
export const preferencesSchema = z
  .record(z.string(), z.json(), "expected an object, { … }")
  .refine((all) => Object.keys(all).every((key) => key !== "" && key.length <= maxKeyChars), {
    error: `keys have 1 to ${maxKeyChars} characters`,
  })
  .refine((all) => Object.keys(all).length <= maxKeys, { error: `more than ${maxKeys} keys` })
  .refine((all) => new TextEncoder().encode(JSON.stringify(all)).length <= maxPreferencesChars, {
    error: `larger than ${maxPreferencesChars} bytes`,
  })
  .meta({ id: "Preferences", description: "A small JSON object that clients store for the user." });

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
