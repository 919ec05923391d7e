import { z } from "zod";
import { budgetSchema, newBudgetSchema } from "./budget.ts";
import { userNameSchema } from "./name-schemas.ts";
import { nextSchema } from "./page.ts";

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

const limit = z
  .int("expected a whole number")
  .positive("expected more than 0; leave it out for no limit")
  .max(1_000_000);

/** What the host's owner allows a user. Omitted limits are unlimited. */
export const userLimitsSchema = z
  .strictObject({
    agents: limit.optional().meta({ description: "Agents in all of the user's agencies together." }),
    concurrentTurns: limit.optional().meta({ description: "Agents of the user that may run a turn at the same time." }),
    requestsPerMinute: limit
      .optional()
      .meta({ description: "Requests of each of the user's tokens; 30,000 if omitted." }),
    diskMb: limit.optional().meta({ description: "Disk space of all the user's agents together, in megabytes." }),
    budget: newBudgetSchema.optional().meta({ description: "The user may set a lower budget, but no higher one." }),
  })
  .meta({ id: "UserLimits" });

export type UserLimits = z.infer<typeof userLimitsSchema>;

const { agents, concurrentTurns, requestsPerMinute, diskMb, budget } = userLimitsSchema.shape;

/** Changes to the limits of a user. Null removes a limit; omitted ones stay as they are. */
export const userLimitsUpdateSchema = z
  .strictObject({
    agents: agents.nullable(),
    concurrentTurns: concurrentTurns.nullable(),
    requestsPerMinute: requestsPerMinute.nullable(),
    diskMb: diskMb.nullable(),
    budget: budget.nullable(),
  })
  .meta({ id: "UserLimitsUpdate", description: "Null removes a limit; omitted ones stay as they are." });

export type UserLimitsUpdate = z.infer<typeof userLimitsUpdateSchema>;

export const userUpdateSchema = z.strictObject({ limits: userLimitsUpdateSchema }).meta({ id: "UserUpdate" });

export const newUserSchema = z
  .strictObject({ name: userNameSchema, limits: userLimitsSchema.optional() })
  .meta({ id: "NewUser" });

export const listedUserSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    createdAt: z.string(),
    agencies: z.number(),
    agents: z.number(),
    diskBytes: z.number().meta({ description: "Disk space of the user's agents, as they last reported it." }),
    limits: userLimitsSchema,
  })
  .meta({ id: "ListedUser", description: "A user as the host's owner sees it." });

export type ListedUser = z.infer<typeof listedUserSchema>;

export const userListSchema = z.object({ users: z.array(listedUserSchema), next: nextSchema });

export const userSchema = z
  .object({
    name: z.string(),
    agencies: z.number(),
    agents: z.number(),
    preferences: preferencesSchema,
    budget: budgetSchema.nullable(),
    limits: userLimitsSchema,
  })
  .meta({ id: "User" });

export type User = z.infer<typeof userSchema>;
