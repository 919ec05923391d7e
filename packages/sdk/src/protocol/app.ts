import { z } from "zod";

/** Main and modules together, in bytes. */
export const maxAppBytes = 1024 * 1024;

const maxModules = 100;

/** What the module is called that an app is given as its `code`; the others import it by this name. */
export const appMain = "main.ts";

/** Names that a module can be imported by from every other one, and that mean nothing to anybody else. */
const moduleNameSchema = z
  .string()
  .max(200)
  .regex(/^(?!__)\w[\w.-]*(?:\/(?!__)\w[\w.-]*)*$/, "write it as a plain path: lib/format.ts")
  .refine((name) => name !== appMain, `“${appMain}” is the app itself; give it as \`code\``)
  .refine((name) => name !== "code" && !name.startsWith("thinkery/"), "the sandbox uses that name itself");

export const newAppSchema = z
  .strictObject({
    code: z.string().min(1).meta({
      description:
        "the main module, JavaScript or TypeScript: export default { async fetch(request, env) { return new Response(…) } }",
    }),
    modules: z
      .record(moduleNameSchema, z.string())
      .refine(
        (modules) => Object.keys(modules).length < maxModules,
        `an app may have ${maxModules} modules, the main one included`,
      )
      .optional()
      .meta({ description: "more modules by their paths, to be imported as ./path" }),
  })
  .refine((app) => countAppBytes(app) <= maxAppBytes, { error: `larger than ${maxAppBytes} bytes in all` })
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
    modules: z.array(z.string()).meta({ description: "names of the other modules" }),
    bytes: z.number(),
    by: z.string().meta({ description: "the user who set it, or the agent itself as agency~agent" }),
    updatedAt: z.string(),
    address: z.string().meta({ description: "where it answers on this host" }),
  })
  .meta({ id: "App", description: "A small web application that an agent keeps and that answers in a sandbox." });

export type AppInfo = z.infer<typeof appSchema>;

export function formatAppAddress(agency: string, agent: string): string {
  return `/agency/${encodeURIComponent(agency)}/agent/${encodeURIComponent(agent)}/app/`;
}
