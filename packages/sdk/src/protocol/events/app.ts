import { z } from "zod";

const appFactsSchema = () =>
  z
    .object({
      version: z.string().describe("Changes with the code."),
      blob: z.string(),
      main: z.string(),
      modules: z.array(z.string()),
      bytes: z.number(),
      by: z.string().describe("The user who set the app, or the agent itself as agency~agent."),
    })
    .describe("What is stored about an agent's app. The code is in the blob, by module name.");

export const storedAppSchema = () => appFactsSchema().extend({ updatedAt: z.string() });

export type AppFacts = z.infer<ReturnType<typeof appFactsSchema>>;
export type StoredApp = z.infer<ReturnType<typeof storedAppSchema>>;

/** Events about the agent's app. */
export const appEvents = () => ({
  "app.set": appFactsSchema().describe("The agent's app was set or replaced."),
  "app.removed": z.object({ by: z.string() }),
});
