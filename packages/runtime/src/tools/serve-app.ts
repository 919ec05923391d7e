import { formatAppAddress, defineTool, createValidationError, newAppSchema, parseAddress } from "@thinkery/sdk";
import { z } from "zod";
import { createAppFacts, packApp } from "../store/app-source.ts";

export const serveApp = defineTool(
  {
    name: "serveApp",
    description:
      "Put up a small web app, in place of your last one. It is kept and answers in a sandbox without network, tools or storage; what its modules hold in memory may be lost at any time. A page it serves cannot load anything else from it: keep styles and scripts inline.",
    inputSchema: z.object({
      code: z
        .string()
        .describe(
          "ES module, JavaScript or TypeScript: export default { async fetch(request) { return new Response(…) } }. Its root is http://app/.",
        ),
      modules: z.record(z.string(), z.string()).optional().describe("more modules by path, imported as ./path"),
    }),
    action: "serve",
    idempotent: true,
  },
  async (given, context) => {
    const parsed = newAppSchema.safeParse(given);
    if (!parsed.success) throw createValidationError("app", parsed.error);
    const facts = createAppFacts(parsed.data, await context.putBlob(packApp(parsed.data)), context.agent);
    context.record({ type: "app.set", data: facts });
    const { agency = "", path: [agent] = [""] } = parseAddress(context.agent) ?? {};
    return `The app is at ${formatAppAddress(agency, agent)} on this host, version ${facts.version}.`;
  },
);
