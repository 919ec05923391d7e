import { z } from "zod";

/** Maximum size of the main module and all other modules together. */
export const maxAppBytes = 1024 * 1024;

const maxModules = 100;

/** The name by which other modules can import the main module, the `code` of an app. */
export const appMain = "main.ts";

/** Names by which every module can import another, and that have no other meaning. */
const moduleNameSchema = z
  .string()
  .max(200)
  .regex(/^(?!__)\w[\w.-]*(?:\/(?!__)\w[\w.-]*)*$/, "use a plain path such as lib/format.ts")
  .refine((name) => name !== appMain, `“${appMain}” is the main module; give it as \`code\``)
  .refine((name) => name !== "code" && !name.startsWith("thinkery/"), "the name is reserved by the sandbox");

export const newAppSchema = z
  .strictObject({
    code: z.string().min(1).meta({
      description:
        "The main module, in JavaScript or TypeScript: export default { async fetch(request, env) { return new Response(…) } }",
    }),
    modules: z
      .record(moduleNameSchema, z.string())
      .refine(
        (modules) => Object.keys(modules).length < maxModules,
        `more than ${maxModules} modules, including the main one`,
      )
      .optional()
      .meta({ description: "More modules by path, imported as ./path." }),
  })
  .refine((app) => countAppBytes(app) <= maxAppBytes, { error: `larger than ${maxAppBytes} bytes in total` })
  .meta({ id: "NewApp" });

export type NewApp = z.infer<typeof newAppSchema>;

export function countAppBytes({
  code,
  modules = {},
}: {
  code: string;
  modules?: Record<string, string> | undefined;
}): number {
  const encoder = new TextEncoder();
  return [code, ...Object.entries(modules).flat()].reduce((sum, text) => sum + encoder.encode(text).length, 0);
}

export const appSchema = z
  .object({
    version: z.string(),
    main: z.string(),
    modules: z.array(z.string()).meta({ description: "The names of the other modules." }),
    bytes: z.number(),
    by: z.string().meta({ description: "The user who set the app, or the agent itself as agency~agent." }),
    updatedAt: z.string(),
    address: z.string().meta({ description: "The path of the app on this host." }),
  })
  .meta({ id: "App", description: "A small web application of an agent. It handles requests in a sandbox." });

export type AppInfo = z.infer<typeof appSchema>;

export function formatAppAddress(agency: string, agent: string): string {
  return `/agency/${encodeURIComponent(agency)}/agent/${encodeURIComponent(agent)}/app/`;
}
