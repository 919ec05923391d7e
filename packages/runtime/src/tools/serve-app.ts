import {
  formatAppAddress,
  defineTool,
  createValidationError,
  newAppSchema,
  parseAddress,
  parseAgencyKey,
} from "@thinkery/sdk";
import { z } from "zod";
import { createAppFacts, packApp } from "../store/app-source.ts";

export const serveApp = defineTool(
  {
    name: "serveApp",
    description:
      "Deploy a small web app, replacing your previous one. It stays deployed and runs in a sandbox without network, tools or storage; data in memory may be lost at any time. Its pages cannot load other resources from it: inline styles and scripts.",
    inputSchema: z.object({
      code: z
        .string()
        .describe(
          "ES module in JavaScript or TypeScript: export default { async fetch(request) { return new Response(…) } }. Its root URL is http://app/.",
        ),
      modules: z.record(z.string(), z.string()).optional().describe("additional modules by path, imported as ./path"),
    }),
    action: "serve",
    idempotent: true,
  },
  async (input, context) => {
    const parsed = newAppSchema.safeParse(input);
    if (!parsed.success) throw createValidationError("app", parsed.error);
    const facts = createAppFacts(parsed.data, await context.putBlob(packApp(parsed.data)), context.agent);
    context.record({ type: "app.set", data: facts });
    const { agency = "", path: [agent] = [""] } = parseAddress(context.agent) ?? {};
    return `Deployed version ${facts.version} at ${formatAppAddress(parseAgencyKey(agency).id, agent)} on this host.`;
  },
);
