import { z } from "zod";

const appFactsSchema = () =>
  z
    .object({
      version: z.string().describe("other code, other version"),
      blob: z.string(),
      main: z.string(),
      modules: z.array(z.string()),
      bytes: z.number(),
      by: z.string().describe("the user who set it, or the agent itself as agency~agent"),
    })
    .describe("What an agent knows of its app. The code is in the blob, by module name.");

export const storedAppSchema = () => appFactsSchema().extend({ updatedAt: z.string() });

export type AppFacts = z.infer<ReturnType<typeof appFactsSchema>>;
export type StoredApp = z.infer<ReturnType<typeof storedAppSchema>>;

/** The agent's app. */
export const appEvents = () => ({
  "app.set": appFactsSchema().describe("The agent has an app, in place of the one it had."),
  "app.removed": z.object({ by: z.string() }),
});
